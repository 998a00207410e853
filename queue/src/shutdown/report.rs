//! What a shutdown has to say about every job.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use queue_core::{Delivery, Headers, JobId, Payload, Undecodable, WorkerError};

use crate::Stats;

/// A job that a shutdown gives back: it never ran, or not to its end.
pub struct Unrun<J> {
    /// The identity of the job.
    pub id: JobId,
    /// How many attempts it has behind it.
    pub attempts: u32,
    /// The job.
    pub job: Result<J, Undecodable>,
    /// Its headers.
    pub headers: Headers,
}

impl<J> Unrun<J> {
    pub(crate) fn new<P: Payload<Job = J>, R>(delivery: Delivery<P, R>) -> Self {
        let Delivery { meta, payload, .. } = delivery;
        let headers = meta.extra.map(|extra| extra.headers).unwrap_or_default();
        Self { id: meta.id, attempts: meta.attempt.saturating_sub(1), job: payload.take(false).0, headers }
    }
}

/// Shows no job.
impl<J> fmt::Debug for Unrun<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unrun").field("id", &self.id).field("attempts", &self.attempts).finish_non_exhaustive()
    }
}

/// What a shutdown has to say about every job that the queue accepted.
///
/// On the ring, once it is over: `accepted = done + dead + returned + cancelled + abandoned`.
/// Clones are the same report; the jobs that never ran are in it once.
#[must_use = "the report has the jobs that never ran"]
pub struct Report<J> {
    stats: Stats,
    complete: bool,
    unrun: Arc<Mutex<Vec<Unrun<J>>>>,
}

impl<J> Report<J> {
    pub(crate) const fn new(stats: Stats, complete: bool, unrun: Arc<Mutex<Vec<Unrun<J>>>>) -> Self {
        Self { stats, complete, unrun }
    }

    /// The counts as they were when the call answered.
    #[must_use]
    pub const fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Whether the shutdown is over: nothing runs any more. If not, a later call waits for the rest.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.complete
    }

    /// Jobs that still run: their handlers block their threads, or the deadline of this call was not the latest.
    #[must_use]
    pub const fn abandoned(&self) -> u64 {
        self.stats.running
    }

    /// Calls of `on_complete` that had not ended: they are cut short where nobody waits longer.
    #[must_use]
    pub const fn unfinished_hooks(&self) -> u64 {
        self.stats.hooks_waiting + self.stats.hooks_cut
    }

    /// How many jobs that never ran are here to be taken.
    #[must_use]
    pub fn unrun(&self) -> usize {
        self.unrun.lock().len()
    }

    /// Takes the jobs that never ran, in the order in which they would have run, delayed ones last. The first to ask
    /// gets them: of all callers of one shutdown.
    #[must_use]
    pub fn take_unrun(&self) -> Vec<Unrun<J>> {
        std::mem::take(&mut self.unrun.lock())
    }
}

impl<J> Clone for Report<J> {
    fn clone(&self) -> Self {
        Self { stats: self.stats, complete: self.complete, unrun: self.unrun.clone() }
    }
}

impl<J> fmt::Debug for Report<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Report").field("stats", &self.stats).field("complete", &self.complete).finish_non_exhaustive()
    }
}

/// The worker could not end as it should. All jobs are accounted for in the report.
#[derive(thiserror::Error)]
#[error("the worker did not end cleanly")]
pub struct ShutdownError<J> {
    /// What the worker said.
    pub source: WorkerError,
    /// The report all the same.
    pub report: Report<J>,
}

impl<J> fmt::Debug for ShutdownError<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShutdownError").field("source", &self.source).field("report", &self.report).finish()
    }
}
