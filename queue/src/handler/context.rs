//! What a handler may ask about its job.

use std::fmt;
use std::sync::Arc;

use queue_core::{Extra, Headers, JobId, Stamp};
use tokio::time::Instant;

use super::{At, CancelReason};
use crate::ShutdownHandle;
use crate::slot::Slot;

/// What a handler may ask about its job, and the queue's state `S`.
///
/// ```
/// # use queue::{Context, Queue, Ring};
/// # #[derive(Clone)] struct Mailer;
/// # impl Mailer { async fn send(&self, _: &str) {} }
/// async fn send(to: String, cx: Context<Mailer>) {
///     println!("attempt {} of {}", cx.attempt(), cx.attempts());
///     cx.state().send(&to).await;
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let queue = Queue::with_worker(Ring::new()).state(Mailer).start(send)?;
/// # drop(queue.shutdown(std::time::Duration::ZERO).await?); Ok(()) }
/// ```
#[derive(Clone)]
pub struct Context<S = ()> {
    id: JobId,
    attempt: u32,
    attempts: u32,
    fence: Option<u64>,
    times_out_at: Option<Instant>,
    enqueued: Stamp,
    deadline: Option<Instant>,
    extra: Option<Box<Extra>>,
    slot: Arc<Slot>,
    /// Which job of its slot this is.
    number: u64,
    state: S,
}

impl<S: Clone> Context<S> {
    #[inline]
    pub(crate) fn new(at: &At<'_, S>) -> Self {
        Self {
            id: at.meta.id,
            attempt: at.meta.attempt,
            attempts: at.attempts,
            fence: at.fence,
            times_out_at: at.times_out_at,
            enqueued: at.meta.enqueued,
            deadline: at.deadline,
            extra: at.meta.extra.clone(),
            slot: at.slot.clone(),
            number: at.slot.number(),
            state: at.state.clone(),
        }
    }
}

impl<S> Context<S> {
    /// The identity of the job: the same in every attempt, and what its enqueue answered.
    #[must_use]
    pub const fn id(&self) -> JobId {
        self.id
    }

    /// Which attempt this is, from 1 on.
    #[must_use]
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// How many attempts the job may have.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// When the attempt times out, where it does.
    #[must_use]
    pub const fn times_out_at(&self) -> Option<Instant> {
        self.times_out_at
    }

    /// After when no attempt of the job starts, where it has such a deadline.
    #[must_use]
    pub const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// When the job was first enqueued, to 5 ms: by the broker's account where another process enqueued it.
    #[must_use]
    pub fn enqueued_at(&self) -> Instant {
        self.slot.home.clock.instant(self.enqueued)
    }

    /// The queue's name.
    #[must_use]
    pub fn queue(&self) -> &str {
        &self.slot.home.queue
    }

    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers()?.get(name)
    }

    /// All headers, where the job has any options at all.
    #[must_use]
    pub fn headers(&self) -> Option<&Headers> {
        self.extra.as_deref().map(|extra| &extra.headers)
    }

    /// Whether the broker says that it handed this message out before.
    #[must_use]
    pub fn is_redelivered(&self) -> bool {
        self.extra.as_deref().is_some_and(|extra| extra.redeliveries > 0)
    }

    /// A number that grows with each delivery of the job, where the broker has what it takes.
    #[must_use]
    pub const fn fence(&self) -> Option<u64> {
        self.fence
    }

    /// The queue's state.
    #[must_use]
    pub const fn state(&self) -> &S {
        &self.state
    }

    /// Ends the queue, or tells whether its end has begun. It keeps nothing alive.
    #[must_use]
    pub fn shutdown_handle(&self) -> ShutdownHandle {
        self.slot.home.shutdown_handle()
    }

    /// Waits until the handler shall stop. It is then polled once more before it is dropped.
    ///
    /// # Cancel safety
    /// A dropped future loses nothing; the signal stays.
    pub async fn cancelled(&self) -> CancelReason {
        self.slot.cancel.cancelled(self.number).await
    }

    /// Why the handler shall stop, if it shall.
    #[must_use]
    pub fn cancel_reason(&self) -> Option<CancelReason> {
        self.slot.cancel.reason(self.number)
    }
}

impl<S> fmt::Debug for Context<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("id", &self.id).field("attempt", &self.attempt).finish_non_exhaustive()
    }
}
