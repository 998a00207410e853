//! The worker: the calls of the contract, in the order in which a job meets them.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use queue_core::{
    Capabilities, Clock, Codec, Delays, Delivery, DeliveryOf, Demand, Encoded, Entry, Event, EventLog, Events, Facets,
    Json, Refusal, RequestError, Retries, Room, SettlingOf, Tally, Worker, WorkerError, wire,
};
use tokio::time::{Instant, sleep_until};

use crate::claim::{Claim, Claimed, claim};
use crate::message::Message;
use crate::publish::{Outgoing, store};
use crate::settle::Order;
use crate::spool::Spool;

/// A consumer and producer of one queue in a [`Folder`](crate::Folder).
pub struct FileWorker<J, C = Json> {
    pub(crate) spool: Arc<Spool>,
    pub(crate) codec: C,
    pub(crate) clock: Clock,
    capabilities: Capabilities,
    events: EventLog,
    closed: AtomicBool,
    accepted: AtomicU64,
    job: PhantomData<fn() -> J>,
}

impl<J, C> fmt::Debug for FileWorker<J, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileWorker").field("queue", &self.capabilities.queue).finish_non_exhaustive()
    }
}

impl<J: Send + 'static, C: Codec<J>> FileWorker<J, C> {
    pub(crate) fn new(spool: Spool, codec: C, capabilities: Capabilities) -> Self {
        Self {
            spool: Arc::new(spool),
            codec,
            clock: Clock::new(),
            capabilities,
            events: EventLog::new(64),
            closed: AtomicBool::new(false),
            accepted: AtomicU64::new(0),
            job: PhantomData,
        }
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(crate) fn queue_name(&self) -> &str {
        self.capabilities.queue.as_deref().unwrap_or_default()
    }

    /// The files of the open entries. What cannot be sent is refused here, before anything is written.
    fn outgoing(&self, jobs: &mut [Entry<J>]) -> Vec<Outgoing> {
        let mut outgoing = Vec::with_capacity(jobs.len());
        for (at, entry) in jobs.iter_mut().enumerate().filter(|(_, entry)| entry.is_open()) {
            if self.is_closed() {
                entry.refuse(Refusal::Closed);
                continue;
            }
            let id = entry.extra().and_then(|extra| extra.id).unwrap_or_else(|| self.spool.new_id());
            match wire::encode(&self.codec, entry, id, &self.capabilities) {
                Err(refusal) => entry.refuse(refusal),
                Ok((body, pairs)) => {
                    let after = entry.extra().and_then(|extra| extra.delay).unwrap_or_default();
                    outgoing.push(Outgoing { at, id, after, message: Message { pairs, body: body.into() } });
                    entry.unconfirmed(id);
                }
            }
        }
        outgoing
    }

    fn delivery(&self, claimed: Claimed) -> DeliveryOf<Self> {
        let (receipt, message, mut head) = claimed.hand_out();
        let meta = head.meta(&self.clock, receipt.name.spent);
        let payload = self.payload(message, head);
        Delivery { meta, payload, receipt }
    }

    pub(crate) fn payload(&self, message: Message, head: wire::Head) -> Encoded<J, C> {
        let payload = Encoded::new(self.codec.clone(), message.body);
        let payload = payload.with_content_type(head.content_type).with_kind(head.kind);
        match head.broken {
            Some(why) => payload.with_broken(why),
            None => payload,
        }
    }

    /// Runs steps on the disk, which block, off the runtime's threads.
    pub(crate) async fn on_disk<T: Send + 'static>(
        &self,
        call: &str,
        steps: impl FnOnce(&Arc<Spool>) -> io::Result<T> + Send + 'static,
    ) -> Result<T, WorkerError> {
        let spool = self.spool.clone();
        let done = tokio::task::spawn_blocking(move || steps(&spool)).await.map_err(io::Error::other);
        done.and_then(|done| done).map_err(|error| self.failed(call, error))
    }

    fn failed(&self, call: &str, error: io::Error) -> WorkerError {
        let message = format!("{call} on the queue `{}` failed: look after its folder", self.queue_name());
        self.events.note(Event::Failed(format!("{message}: {error}").into()));
        WorkerError::retry(message).with_source(error)
    }
}

impl<J: Send + 'static, C: Codec<J>> Worker for FileWorker<J, C> {
    type Job = J;
    type Payload = Encoded<J, C>;
    type Receipt = Claim;

    // A folder has no limit that could be waited for: a full disk refuses, whatever `Room` says.
    async fn queue(&self, jobs: &mut [Entry<J>], _: Room) -> Result<(), WorkerError> {
        let outgoing = self.outgoing(jobs);
        let ids: Vec<_> = outgoing.iter().map(|job| (job.at, job.id)).collect();
        // Dropped here, the entries stay unconfirmed: the files may be there.
        let stored = self.on_disk("a publish", move |spool| Ok(store(spool, &outgoing))).await?;
        for ((at, id), stored) in ids.into_iter().zip(stored) {
            if stored.answer(&mut jobs[at], id) {
                // Relaxed: a count of its own.
                self.accepted.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    // A request takes what it hands out and no more, so nothing depends on how many slots there are.
    fn demand(&self, _: Demand) {}

    async fn request(&self, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), RequestError> {
        loop {
            // Registered before the look: what becomes ready in between is not missed.
            let mut woken = std::pin::pin!(self.spool.woken.notified());
            woken.as_mut().enable();
            if self.is_closed() {
                return Err(RequestError::Closed);
            }
            if self.spool.is_due() {
                // Dropped here, what the thread still claims gives itself back, and no attempt is spent.
                let claimed = self.on_disk("a request", move |spool| claim(spool, max)).await?;
                self.events.note(Event::Fetched);
                if !claimed.is_empty() {
                    into.extend(claimed.into_iter().map(|claimed| self.delivery(claimed)));
                    return Ok(());
                }
            }
            tokio::select! { () = woken => {} () = sleep_until(self.spool.look_at()) => {} }
        }
    }

    async fn settle(&self, batch: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        let asked = batch.iter().filter_map(|settling| settling.asked());
        let orders: Vec<Order> = asked.map(|(unsettled, verdict)| Order::of::<Self>(unsettled, verdict)).collect();
        let queue = self.queue_name().to_owned();
        let carry_out =
            move |spool: &Arc<Spool>| Ok(orders.iter().map(|order| order.carry_out(spool, &queue)).collect::<Vec<_>>());
        let answers = self.on_disk("a settle", carry_out).await?;
        let mut failed = None;
        for (settling, answer) in batch.iter_mut().filter(|it| it.asked().is_some()).zip(answers) {
            match answer {
                Ok(settled) => drop(settling.answer(settled)),
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(()), |error| Err(self.failed("a settle", error)))
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.spool.woken.notify_waiters();
    }

    // Nothing is held back that could be flushed, and jobs are safe in the folder.
    async fn shutdown(&self, _: Instant, _: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), WorkerError> {
        self.close();
        Ok(())
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        // Relaxed: a count of its own.
        tally.accepted = self.accepted.load(Ordering::Relaxed);
        tally
    }

    fn events(&self) -> Events {
        self.events.events()
    }

    fn facets(&self) -> Facets<'_, Self> {
        Facets::none().inspects(self).dead_letters(self)
    }
}

impl<J: Send + 'static, C: Codec<J>> Retries for FileWorker<J, C> {}
impl<J: Send + 'static, C: Codec<J>> Delays for FileWorker<J, C> {}
