//! How a consumer gets deliveries.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::Poll;

use queue_core::wire::Head;
use queue_core::{Delivery, DeliveryOf, Encoded, Event, Ownership, Payload, RequestError, Worker};
use tokio::time::{Instant, sleep_until};

use super::consumer::Consumer;
use super::line::{Held, Message, Store, source};
use super::receipt::Claim;
use crate::broken::Defect;

/// How much is fetched at once where a consumer fetches the whole queue.
const ALL: usize = 1_000_000;

/// A request that waits.
struct Asking<'a>(&'a Consumer);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut asking = self.0.line.asking.lock();
        if let Some(at) = asking.iter().position(|(number, _)| *number == self.0.number) {
            asking.remove(at);
        }
    }
}

impl Consumer {
    pub(super) async fn fetch(&self, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), RequestError> {
        if self.has(Defect::NeverAnswersRequests) || self.gave_up {
            return std::future::pending().await;
        }
        self.begin().await;
        let _asking = self.ask();
        // Relaxed, as below: only the number matters.
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let held = into.len();
        let (mut got, mut waits) = (VecDeque::new(), false);
        if held > 0 && self.has(Defect::ReadyWithNothingNew) {
            return Ok(());
        }
        loop {
            // Registered before anything is looked at: a change in between is not missed.
            let mut changed = pin!(self.server.changed.notified());
            changed.as_mut().enable();
            let deaf = waits && self.has(Defect::CloseWakesNobody);
            waits = true;
            if self.fetches_no_more() && !deaf {
                return Err(RequestError::Closed);
            }
            let expiry = self.line.reclaim(&self.server);
            let ahead = self.ahead.lock().pop_front();
            if let Some(delivery) = ahead {
                into.push_back(delivery);
                return Ok(());
            }
            let idle = sleep_until(expiry.unwrap_or_else(|| Instant::now() + super::server::LEASE));
            if !self.is_served() {
                tokio::select! { () = changed => {} () = idle => {} }
                continue;
            }
            let take = self.how_many(max);
            tokio::select! {
                biased;
                () = changed => {}
                () = idle => {}
                _ = self.woken(number, self.line.store.request(take, &mut got)) => {
                    if self.has(Defect::LosesDroppedRequest) {
                        tokio::task::yield_now().await;
                    }
                    self.hand_out(&mut got, max, into);
                    let enough = if self.has(Defect::WaitsForAll) { max } else { 1 };
                    if into.len() >= held + enough {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// The output of a request's wait, unless a newer request has taken its waker's place.
    async fn woken<T>(&self, number: u64, wait: impl Future<Output = T>) -> T {
        let mut wait = pin!(wait);
        poll_fn(|cx| {
            let replaced = self.has(Defect::WakesNewestRequest) && self.requests.load(Ordering::Relaxed) > number;
            if replaced { Poll::Pending } else { wait.as_mut().poll(cx) }
        })
        .await
    }

    fn fetches_no_more(&self) -> bool {
        if self.has(Defect::CloseKeepsFetching) { self.has_ended() } else { self.is_closed() }
    }

    async fn begin(&self) {
        let first = !self.line.consumed.swap(true, Ordering::AcqRel);
        if first && self.has(Defect::StartsAtLatest) && self.line.left.load(Ordering::Acquire) {
            let mut passed_over = VecDeque::new();
            while let Ok(counts) = queue_core::Inspects::inspect(&self.line.store).await {
                if counts.ready == 0 || self.line.store.request(ALL, &mut passed_over).await.is_err() {
                    break;
                }
            }
        }
    }

    /// Stands in the line of those who ask, until it is dropped.
    fn ask(&self) -> Asking<'_> {
        self.line.asking.lock().push((self.number, self.link.clone()));
        Asking(self)
    }

    /// Whether the broker would give it something.
    fn is_served(&self) -> bool {
        let hogged = self.has(Defect::HogsJobs) && {
            let busy: Vec<u64> = self.line.held.lock().values().map(|held| held.consumer).collect();
            let asking = self.line.asking.lock();
            let heard = asking.iter().filter(|(_, link)| !link.is_silent()).map(|(number, _)| *number);
            heard.chain(busy).min() != Some(self.number)
        };
        self.is_heard() && !hogged && !self.paused.load(Ordering::Acquire)
    }

    fn how_many(&self, max: usize) -> usize {
        if self.has(Defect::PrefetchesAll) && max > 1 {
            ALL
        } else if self.has(Defect::HandsOutTooMany) {
            max + 1
        } else {
            max
        }
    }

    fn hand_out(&self, got: &mut VecDeque<DeliveryOf<Store>>, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) {
        self.events.note(Event::Fetched);
        if self.has(Defect::OverwritesHeld) {
            into.clear();
        }
        if self.has(Defect::HandsOutBackwards) {
            got.make_contiguous().reverse();
        }
        let most = into.len() + if self.has(Defect::HandsOutTooMany) { max + 1 } else { max };
        for delivery in got.drain(..).filter_map(|stored| self.claim(stored)) {
            if into.len() < most { into.push_back(delivery) } else { self.ahead.lock().push_back(delivery) }
        }
    }

    /// Makes a delivery ours. None: it is dropped, as broken workers do.
    fn claim(&self, stored: DeliveryOf<Store>) -> Option<DeliveryOf<Self>> {
        let Delivery { meta: stored_meta, payload, receipt: () } = stored;
        let (Ok(message), Some(payload)) = payload.take(true) else { return None };
        let stored = Delivery { meta: stored_meta, payload, receipt: () };
        let mut head = Head::read(message.pairs.iter().map(|(name, value)| (&**name, value.clone())));
        if message.pairs.is_empty() && self.has(Defect::DropsForeign) {
            return None;
        }
        let (tag, stored_attempt) = (self.line.next_tag(), stored.meta.attempt);
        if head.id.is_none() {
            let name = if self.has(Defect::NumbersForeignAnew) { tag } else { message.name };
            head.source.get_or_insert_with(|| source(name).into());
        }
        let mut meta = head.meta(&self.clock, 0);
        meta.attempt = head.attempts.saturating_add(stored_attempt);
        if self.has(Defect::CountsFromZero) {
            meta.attempt -= 1;
        }
        let payload = self.payload(message, head);
        let fence = if self.has(Defect::FenceStandsStill) { meta.id.get() } else { tag };
        let ownership = Ownership::new();
        let kept = self.has(Defect::DroppedStaysHeld);
        let receipt = Claim { tag, fence, ownership: ownership.clone(), line: self.line.clone(), kept };
        let delivery = (!self.has(Defect::AcksOnDelivery)).then_some(stored);
        let held = Held {
            delivery,
            link: self.link.clone(),
            consumer: self.number,
            ownership,
            since: Instant::now(),
            given_up: None,
        };
        self.line.held.lock().insert(tag, held);
        Some(Delivery { meta, payload, receipt })
    }

    fn payload(&self, message: Message, head: Head) -> Encoded<crate::Job, crate::AnyCodec> {
        let mut body = message.body;
        if self.has(Defect::WrapsBody) && body.starts_with(b"wrapped:") {
            body = body.slice(8..);
        }
        let payload = Encoded::new(self.codec.clone(), body).with_content_type(head.content_type).with_kind(head.kind);
        match head.broken {
            Some(why) if !self.has(Defect::ReadsNewerFormats) => payload.with_broken(why),
            _ => payload,
        }
    }
}
