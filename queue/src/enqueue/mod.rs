//! How a job comes in.

mod enqueuer;
mod error;
mod job;
mod options;

pub use enqueuer::Enqueuer;
pub use error::{EnqueueError, EnqueueManyError};
pub use job::{ErasedJobBuilder, JobBuilder};

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use queue_core::{Entry, JobId, Room, Worker, WorkerError};

/// The worker, and what is counted of enqueues: all that an enqueuer needs, and nothing of the engine.
#[derive(Debug)]
pub(crate) struct Intake<W> {
    pub(crate) worker: W,
    /// Jobs given back. Relaxed: a statistic.
    rejected: AtomicU64,
}

/// Jobs without options, as a worker takes them.
pub(crate) fn entries<J>(jobs: impl IntoIterator<Item = J>) -> Vec<Entry<J>> {
    jobs.into_iter().map(Entry::new).collect()
}

/// How long an enqueue waits for room.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wait {
    /// As long as it takes.
    Long,
    /// Not at all.
    Not,
    /// At most so long.
    Within(Duration),
}

impl<W: Worker> Intake<W> {
    pub(crate) const fn new(worker: W) -> Self {
        Self { worker, rejected: AtomicU64::new(0) }
    }

    pub(crate) fn rejected(&self) -> u64 {
        self.rejected.load(Ordering::Relaxed)
    }

    /// What [`Worker::try_one`] does not take: a job with options, or there is no room, or the worker asks its broker.
    #[cold]
    pub(crate) async fn enqueue(&self, mut entry: Entry<W::Job>, wait: Wait) -> Result<JobId, EnqueueError<W::Job>> {
        let failed = self.ask(std::slice::from_mut(&mut entry), wait).await.err();
        self.answer(entry, failed)
    }

    fn answer(&self, entry: Entry<W::Job>, failed: Option<WorkerError>) -> Result<JobId, EnqueueError<W::Job>> {
        let answer = EnqueueError::of(entry, failed, self.worker.capabilities().backend);
        if answer.is_err() {
            self.rejected.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }

    /// The future, bounded as `wait` says. The bound limits the wait for room only where the worker answers at once; on a
    /// broker it limits the confirmation too.
    async fn ask(&self, jobs: &mut [Entry<W::Job>], wait: Wait) -> Result<(), WorkerError> {
        match wait {
            Wait::Long => self.worker.queue(jobs, Room::Wait).await,
            Wait::Not => self.worker.queue(jobs, Room::Refuse).await,
            Wait::Within(bound) => {
                // Past the bound the entries tell what happened so far.
                tokio::time::timeout(bound, self.worker.queue(jobs, Room::Wait)).await.unwrap_or(Ok(()))
            }
        }
    }

    pub(crate) async fn enqueue_many(
        &self,
        mut entries: Vec<Entry<W::Job>>,
        wait: Wait,
    ) -> Result<Vec<JobId>, EnqueueManyError<W::Job>> {
        let failed = self.ask(&mut entries, wait).await.err();
        let (mut accepted, mut refused) = (Vec::with_capacity(entries.len()), Vec::new());
        accepted.extend(entries.iter().map_while(Entry::accepted));
        for entry in entries.drain(accepted.len()..) {
            // One failure of the call is the failure of each entry that it left open.
            match self.answer(entry, failed.clone()) {
                Ok(id) => accepted.push(id),
                Err(error) => refused.push(error),
            }
        }
        if refused.is_empty() { Ok(accepted) } else { Err(EnqueueManyError { accepted, refused }) }
    }

    pub(crate) fn reject(&self, error: EnqueueError<W::Job>) -> EnqueueError<W::Job> {
        self.rejected.fetch_add(1, Ordering::Relaxed);
        error
    }
}
