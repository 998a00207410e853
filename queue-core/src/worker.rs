//! The trait that a backend implements.

use std::collections::VecDeque;
use std::future::Future;

use tokio::time::Instant;

use crate::{
    Capabilities, Clock, DeliveryOf, DynWorker, Entry, Events, Facets, JobId, Payload, Receipt, RequestError,
    SettlingOf, Tally, WorkerError,
};

/// What [`Worker::queue`] does where there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Waits for it.
    Wait,
    /// Answers [`Refusal::Full`](crate::Refusal::Full).
    Refuse,
}

/// How much an engine can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Demand {
    /// How many slots there are. Zero: nothing is asked for.
    pub slots: usize,
    /// How many deliveries a slot may ask for at once: 1, or what a batch takes.
    pub each: usize,
    /// How many deliveries may be fetched beyond what the slots ask for.
    pub ahead: usize,
}

impl Demand {
    /// So many slots that each ask for one delivery, and nothing ahead.
    #[must_use]
    pub const fn of(slots: usize) -> Self {
        Self { slots, each: 1, ahead: 0 }
    }
}

/// The contract between the engine and a broker: queue, request, settle, shut down.
///
/// A worker translates; it never retries, times out or counts attempts of its own. The numbered lines are what every implementation must keep.
///
/// 1. A job has one owner at every moment. A call that fails, is refused or is dropped half way leaves each job, delivery and verdict
///    with whoever holds the slice.
/// 2. [`Answer::Accepted`](crate::Answer::Accepted) means confirmed: whatever the broker promises for a job, it has promised it. An entry is
///    answered [`Answer::Unconfirmed`](crate::Answer::Unconfirmed) before its first byte leaves this process, and that is replaced by what the
///    broker says: an open entry was not sent.
/// 3. A delivery is handed out once, and settled once. Settling what is no longer ours answers
///    [`Settled::LostOwnership`](crate::Settled::LostOwnership), and changes nothing.
/// 4. The attempt in [`Meta`](crate::Meta) is that of this delivery: 1 for the first, one more after
///    [`Verdict::Retry`](crate::Verdict::Retry) and after a crash that the broker can count, the same after
///    [`Verdict::Return`](crate::Verdict::Return). A count may be too high, never too low.
/// 5. `after` is never cut short.
/// 6. No job is dropped and no waker woken under a lock of the worker.
/// 7. Nothing is accepted and ignored: what [`Capabilities::refuses`] names is
///    [`Refusal::Unsupported`](crate::Refusal::Unsupported).
/// 8. The engine settles every delivery, until [`shutdown`](Self::shutdown). A receipt that is dropped unsettled is given
///    up, as by a crash: its lease is no longer extended, and the broker hands the job out again, as the next attempt.
pub trait Worker: Send + Sync + Sized + 'static {
    /// The user's payload.
    type Job: Send + 'static;
    /// How a delivery carries the job.
    type Payload: Payload<Job = Self::Job>;
    /// What the worker knows a delivery by.
    type Receipt: Receipt;

    /// An acknowledged delivery needs nothing but its drop: the engine then skips the settle.
    const ACK_BY_DROP: bool = false;

    /// Queues jobs: waits for room where `room` says so, then for the broker's confirmation, and answers each open entry in place.
    ///
    /// Entries that are answered already are skipped. Jobs are taken in the order of the slice. A broker that says no
    /// and does not say when to come back is [`Refusal::Full`](crate::Refusal::Full), also to those who would wait.
    ///
    /// # Errors
    /// The call failed as a whole. Entries that were answered before stay answered; the rest stay open, and nothing was done with them.
    ///
    /// # Cancel safety
    /// A dropped future leaves each entry as it is: open, unconfirmed or answered, by line 2.
    fn queue(&self, jobs: &mut [Entry<Self::Job>], room: Room) -> impl Future<Output = Result<(), WorkerError>> + Send;

    /// Takes one job without options at once, where that needs neither waiting nor I/O: the ring while it has room. An
    /// enqueue tries it first, so that no future is made while there is room.
    ///
    /// # Errors
    /// The job: nothing was done. [`queue`](Self::queue) says why, or waits. The default, for a broker, takes none.
    #[inline]
    fn try_one(&self, job: Self::Job) -> Result<JobId, Self::Job> {
        Err(job)
    }

    /// How many slots there are and how much may be fetched ahead; told before the first request and at each resize.
    fn demand(&self, demand: Demand);

    /// Waits for at least one delivery, and appends up to `max` (at least 1), all in the poll that is ready. Slots call it side by side.
    ///
    /// # Errors
    /// [`RequestError::Closed`] once the worker is closed and has nothing to hand out now. Else the broker call failed, and nothing was appended.
    ///
    /// # Cancel safety
    /// A dropped future loses no delivery, and passes on a wake-up that was meant for it.
    fn request(
        &self,
        max: usize,
        into: &mut VecDeque<DeliveryOf<Self>>,
    ) -> impl Future<Output = Result<(), RequestError>> + Send;

    /// Takes unstarted deliveries back to the head of the queue at once, in order, no attempt spent.
    ///
    /// What it leaves in `unstarted` is returned by [`settle`](Self::settle): the default leaves all, which is right for a broker.
    #[inline]
    fn give_back(&self, unstarted: &mut VecDeque<DeliveryOf<Self>>) {
        let _ = unstarted;
    }

    /// Tells the broker the verdicts, and answers each settling in place.
    ///
    /// A retry or a dead letter is confirmed in its new place before the delivery is given up.
    ///
    /// # Errors
    /// The call failed. What is unanswered still holds its delivery, and can be asked again.
    ///
    /// # Cancel safety
    /// As for an error. A verdict whose answer was lost may have reached the broker: asked again it answers lost ownership, or it is done twice,
    /// which at least once allows.
    fn settle(&self, batch: &mut [SettlingOf<Self>]) -> impl Future<Output = Result<(), WorkerError>> + Send;

    /// Answers at once what needs no I/O; true if that was all. Tried before [`settle`](Self::settle).
    #[inline]
    fn settle_now(&self, batch: &mut [SettlingOf<Self>]) -> bool {
        batch.iter().all(|settling| settling.answered().is_some())
    }

    /// Stops intake, at once and for ever: later and waiting calls of [`queue`](Self::queue) answer [`Refusal::Closed`](crate::Refusal::Closed).
    ///
    /// A worker whose jobs die with the process goes on handing out what could start now, then answers
    /// [`RequestError::Closed`]; what is delayed, or comes back to be retried, waits for [`shutdown`](Self::shutdown). A
    /// broker fetches no more: it hands out what had arrived, then answers the same. Settling goes on, with the copies
    /// that it publishes. Idempotent.
    fn close(&self);

    /// Ends the worker: the last call of an engine, made again if something came back since.
    ///
    /// Implies [`close`](Self::close). A worker whose jobs die with the process hands over all that never ran, in the order in which it would have
    /// handed it out, delayed ones last by due time; a broker adds nothing, flushes what it has to say and disconnects. Idempotent.
    ///
    /// # Errors
    /// What could not be flushed by the deadline. Jobs on a broker are safe there.
    fn shutdown(
        &self,
        deadline: Instant,
        unrun: &mut VecDeque<DeliveryOf<Self>>,
    ) -> impl Future<Output = Result<(), WorkerError>> + Send;

    /// What it can do, known since it was made.
    fn capabilities(&self) -> &Capabilities;

    /// The clock of its stamps; a busy engine ticks it.
    fn clock(&self) -> &Clock;

    /// What this process put into it, and what it holds of that here: one consistent reading, without allocation.
    fn tally(&self) -> Tally;

    /// What happens between it and its broker. The default, for a worker without one, has nothing to tell.
    #[inline]
    fn events(&self) -> Events {
        Events::none()
    }

    /// What it implements of [`Inspects`](crate::Inspects), [`DeadLetters`](crate::DeadLetters), [`Cancels`](crate::Cancels) and [`Pauses`](crate::Pauses),
    /// for [`DynWorker`].
    #[inline]
    fn facets(&self) -> Facets<'_, Self> {
        Facets::none()
    }

    /// The same worker behind one type, for a broker that is chosen at run time.
    fn boxed(self) -> DynWorker<Self::Job> {
        DynWorker::new(self)
    }
}
