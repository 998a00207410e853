//! One queue at the broker: a ring of messages, and who holds which.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use queue::Ring;
use queue_core::wire::{self, Pairs};
use queue_core::{
    Cause, DeadLetters, DeliveryOf, Entry, Extra, JobId, Loss, Ownership, Page, Payload, Room, Settling, Unsettled,
    UnsettledOf, Verdict, Worker, WorkerError,
};
use tokio::time::Instant;

use super::link::Link;
use super::server::{LEASE, Server};
use crate::broken::Defect;

/// A message as it is stored.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) body: Bytes,
    pub(super) pairs: Pairs,
    /// The broker's own name of it.
    pub(super) name: u64,
}

pub(super) type Store = Ring<Message>;

/// A delivery that somebody holds.
#[derive(Debug)]
pub(super) struct Held {
    /// None: acknowledged when it was handed out.
    pub(super) delivery: Option<DeliveryOf<Store>>,
    pub(super) link: Arc<Link>,
    pub(super) consumer: u64,
    pub(super) ownership: Ownership,
    pub(super) since: Instant,
    pub(super) given_up: Option<Instant>,
}

impl Held {
    /// When somebody else may have it; never while its consumer is heard.
    fn expires(&self, never_beats: bool) -> Option<Instant> {
        let silent = self.given_up.or_else(|| self.link.silent_since());
        let silent = if never_beats { silent.or(Some(self.since)) } else { silent };
        silent.map(|since| since + LEASE)
    }
}

/// One queue.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) store: Store,
    pub(super) held: Mutex<BTreeMap<u64, Held>>,
    /// Jobs that were acknowledged.
    pub(super) finished: Mutex<HashSet<JobId>>,
    /// Settled deliveries, where their consumer's end brings them back.
    settled: Mutex<Vec<(u64, DeliveryOf<Store>)>>,
    /// Waits that a consumer keeps to itself: what it would lose with its end.
    pub(super) private: Mutex<Vec<(u64, JobId)>>,
    /// Retries that wait, by the time when they are due.
    pub(super) retries: Mutex<Vec<(Instant, JobId)>>,
    tags: AtomicU64,
    names: AtomicU64,
    pub(super) deleted: AtomicBool,
    /// Whether anybody has consumed it.
    pub(super) consumed: AtomicBool,
    /// Whether a producer has ended in order.
    pub(super) left: AtomicBool,
    /// Consumers that ask, by number, in the order in which they came: the first is the only one served where one hogs.
    pub(super) asking: Mutex<Vec<(u64, Arc<Link>)>>,
}

impl Line {
    /// The number of the next delivery. Relaxed, as for the names: only the number matters.
    pub(super) fn next_tag(&self) -> u64 {
        self.tags.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn next_name(&self) -> u64 {
        self.names.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn delete(&self) {
        self.deleted.store(true, Ordering::Release);
    }

    /// Stores a message.
    pub(super) async fn push(&self, message: Message, extra: Extra) -> Option<JobId> {
        let mut entry = [Entry::with_extra(message, extra)];
        self.store.queue(&mut entry, Room::Refuse).await.ok()?;
        entry[0].accepted()
    }

    /// Carries out a verdict on what was held.
    pub(super) fn carry_out(&self, delivery: DeliveryOf<Store>, verdict: Verdict) {
        let unsettled: UnsettledOf<Store> =
            Unsettled { meta: delivery.meta, payload: Some(delivery.payload), receipt: delivery.receipt };
        self.store.settle_now(&mut [Settling::new(unsettled, verdict)]);
    }

    pub(super) fn give_up(&self, tag: u64, now: Instant) {
        if let Some(held) = self.held.lock().get_mut(&tag) {
            held.given_up.get_or_insert(now);
        }
    }

    /// A consumer ended without a word: what it holds is nobody's once its lease ran out.
    pub(super) fn abandon(&self, server: &Server, consumer: u64) {
        let now = Instant::now();
        let mut held = self.held.lock();
        let mut left = 0;
        held.retain(|_, held| {
            left += usize::from(held.consumer == consumer);
            held.consumer != consumer || !server.has(Defect::ForgetsBeyondTen) || left <= 10
        });
        held.values_mut().filter(|held| held.consumer == consumer).for_each(|held| {
            held.given_up.get_or_insert(now);
        });
        drop(held);
        let again: Vec<_> = self.settled.lock().extract_if(.., |(number, _)| *number == consumer).collect();
        again.into_iter().for_each(|(_, delivery)| self.again(server, delivery));
        if server.has(Defect::RetryWaitDiesWithConsumer) || server.has(Defect::DelayedDieWithProducer) {
            let mut private = self.private.lock();
            for (_, id) in private.extract_if(.., |(number, _)| *number == consumer) {
                drop(at_once(queue_core::Cancels::cancel(&self.store, id)));
            }
        }
    }

    /// Connections were cut: what was held is handed out again, as a new attempt.
    pub(super) fn cut(&self, server: &Server, restart: bool) {
        let held = std::mem::take(&mut *self.held.lock());
        let loses = server.has(if restart { Defect::LosesInFlightOnRestart } else { Defect::LosesInFlightOnCut });
        for held in held.into_values() {
            held.ownership.lose(Loss::Disconnected);
            if let Some(delivery) = held.delivery.filter(|_| !loses) {
                self.again(server, delivery);
            }
        }
    }

    /// Takes back what expired; when the next one will.
    pub(super) fn reclaim(&self, server: &Server) -> Option<Instant> {
        let never_beats = server.has(Defect::NeverBeats);
        let (now, mut next, mut expired) = (Instant::now(), None::<Instant>, Vec::new());
        let mut held = self.held.lock();
        for (tag, held) in &*held {
            match held.expires(never_beats) {
                Some(at) if at <= now => expired.push(*tag),
                Some(at) => next = Some(next.map_or(at, |next| next.min(at))),
                None => {}
            }
        }
        let expired: Vec<Held> = expired.iter().filter_map(|tag| held.remove(tag)).collect();
        drop(held);
        for held in expired {
            if !server.has(Defect::NeverTellsLoss) {
                held.ownership.lose(Loss::LeaseExpired);
            }
            if let Some(delivery) = held.delivery {
                self.again(server, delivery);
            }
        }
        next
    }

    /// Keeps what was settled.
    pub(super) fn remember(&self, consumer: u64, delivery: DeliveryOf<Store>) {
        self.settled.lock().push((consumer, delivery));
    }

    /// A dead letter without its job.
    pub(super) fn bury_empty(&self, delivery: DeliveryOf<Store>, cause: Cause) {
        let unsettled: UnsettledOf<Store> = Unsettled { meta: delivery.meta, payload: None, receipt: () };
        self.store.settle_now(&mut [Settling::new(unsettled, Verdict::Dead { cause: Box::new(cause) })]);
    }

    /// Puts a dead letter back as broken workers do: with its attempts, or without its headers.
    pub(super) async fn replay_badly(&self, server: &Server, id: JobId) -> Result<bool, WorkerError> {
        let letters = self.store.dead_letters(Page::first(usize::MAX)).await?;
        let Some(letter) = letters.into_iter().find(|letter| letter.meta.id == id) else { return Ok(false) };
        if !server.has(Defect::ReplayKeepsLetter) {
            self.store.discard(id).await?;
        }
        let Some(Ok(mut message)) = letter.payload.map(|payload| payload.take(false).0) else { return Ok(false) };
        if server.has(Defect::ReplayKeepsAttempts) {
            message.pairs.push((wire::ATTEMPTS.into(), letter.meta.attempt.to_string().into()));
        }
        if server.has(Defect::ReplayDropsHeaders) {
            without_headers(&mut message);
        }
        Ok(self.push(message, known_as(id)).await.is_some())
    }

    /// A crash or a loss spends an attempt.
    fn again(&self, server: &Server, delivery: DeliveryOf<Store>) {
        let after = Duration::ZERO;
        let late = server.has(Defect::CountsCrashesLate);
        self.carry_out(delivery, if late { Verdict::Return { after } } else { Verdict::Retry { after } });
    }
}

pub(super) fn without_headers(message: &mut Message) {
    message.pairs.retain(|(name, _)| name.starts_with("jobqueue-") || &**name == wire::CONTENT_TYPE);
}

/// Nothing but an id.
pub(super) fn known_as(id: JobId) -> Extra {
    let mut extra = Extra::default();
    extra.id = Some(id);
    extra
}

/// The name of a message that came without an id.
pub(super) fn source(name: u64) -> String {
    format!("message-{name}")
}

/// The output of a future of the ring, which never waits.
pub(super) fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}
