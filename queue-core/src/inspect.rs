//! What an operator asks a worker beside queueing: counts, dead letters, cancel, pause.

use std::future::Future;
use std::time::Duration;

use crate::{Cause, JobId, Meta, Payload, Undecodable, Worker, WorkerError};

/// Counts of one queue, as the broker tells them: of all consumer processes, not of this one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inspection {
    /// Jobs that could start now.
    pub ready: u64,
    /// Jobs that wait for their time.
    pub waiting: u64,
    /// Jobs handed out and not settled, where the worker knows: the ring does not hear of an ack.
    pub unsettled: Option<u64>,
    /// Dead letters.
    pub dead: u64,
    /// Dead letters that were dropped because there were too many.
    pub dead_dropped: u64,
    /// How long the oldest job that could start now has been waiting since it was enqueued.
    pub oldest: Option<Duration>,
}

/// A worker that counts what waits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be inspected",
    note = "its broker does not tell how many jobs wait"
)]
pub trait Inspects: Worker {
    /// The counts.
    ///
    /// # Errors
    /// The broker call failed.
    fn inspect(&self) -> impl Future<Output = Result<Inspection, WorkerError>> + Send;
}

/// A part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// How many to pass over, from the oldest on.
    pub skip: usize,
    /// How many to list at most.
    pub limit: usize,
}

impl Page {
    /// The oldest `limit`.
    #[must_use]
    pub const fn first(limit: usize) -> Self {
        Self { skip: 0, limit }
    }
}

/// A job that will not be tried again, and why.
#[derive(Debug)]
pub struct DeadLetter<P> {
    /// Id, age, headers; its attempt is the number of attempts spent.
    pub meta: Meta,
    /// Why it is dead.
    pub cause: Cause,
    /// The job, where it was kept: `Ring::once()` moves it into its handler.
    pub payload: Option<P>,
}

impl<P: Payload> DeadLetter<P> {
    /// The job, where it was kept.
    ///
    /// # Errors
    /// The body is no job: the likely reason why it is here.
    pub fn decode(self) -> Result<Option<P::Job>, Undecodable> {
        self.payload.map(|payload| payload.take(false).0).transpose()
    }
}

/// A worker that keeps what ended badly.
#[diagnostic::on_unimplemented(
    message = "`{Self}` keeps no dead letters",
    note = "look for the reasons in the log, or choose a worker with dead letters"
)]
pub trait DeadLetters: Worker {
    /// Dead letters, the oldest first. Listing loses and spends nothing.
    ///
    /// # Errors
    /// The broker call failed.
    fn dead_letters(
        &self,
        page: Page,
    ) -> impl Future<Output = Result<Vec<DeadLetter<Self::Payload>>, WorkerError>> + Send;

    /// Puts a dead letter back as a job with no attempt spent, headers kept; false where there is none with its job under `id`.
    ///
    /// # Errors
    /// The broker call failed, or the worker is closed. The dead letter is still there.
    fn replay(&self, id: JobId) -> impl Future<Output = Result<bool, WorkerError>> + Send;

    /// Drops a dead letter for good; false where there is none under `id`.
    ///
    /// # Errors
    /// The broker call failed. The dead letter is still there.
    fn discard(&self, id: JobId) -> impl Future<Output = Result<bool, WorkerError>> + Send;
}

/// A worker that takes out a job that has not started.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot cancel a job by its id",
    note = "its broker has no way to find one message"
)]
pub trait Cancels: Worker {
    /// Takes a waiting or delayed job out; none where it runs, has ended or was never here.
    ///
    /// # Errors
    /// The broker call failed.
    fn cancel(&self, id: JobId) -> impl Future<Output = Result<Option<Self::Payload>, WorkerError>> + Send;
}

/// A worker that stops all consumer processes of its queue from starting jobs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot pause its queue everywhere",
    note = "`resize(0)` pauses this process"
)]
pub trait Pauses: Worker {
    /// No job starts any more. Running ones go on, and jobs can be queued.
    ///
    /// # Errors
    /// The broker call failed.
    fn pause(&self) -> impl Future<Output = Result<(), WorkerError>> + Send;

    /// Lifts the pause.
    ///
    /// # Errors
    /// The broker call failed.
    fn unpause(&self) -> impl Future<Output = Result<(), WorkerError>> + Send;

    /// Whether the queue is paused.
    ///
    /// # Errors
    /// The broker call failed.
    fn is_paused(&self) -> impl Future<Output = Result<bool, WorkerError>> + Send;
}
