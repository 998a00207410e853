//! What an operator asks, noted where it moves a job.

use async_trait::async_trait;
use queue_core::{
    Cancels, DeadLetter, DeadLetters, Delays, DynCancels, DynDeadLetters, Facets, Inspection, Inspects, JobId, Leases,
    Page, Pauses, Priorities, Retries, Worker, WorkerError,
};

use super::Recorded;
use crate::history::event::{Event, Hex, OfJob, Replayed};
use crate::history::{Fingerprint, Recorder};

/// The worker inside and its recorder; of itself no worker, so that it can be the twin of its own facets.
pub(super) struct Operating<W> {
    pub(super) worker: W,
    pub(super) recorder: Recorder,
}

impl<W: Worker<Job: Fingerprint>> Operating<W> {
    pub(super) fn facets(&self) -> Facets<'_, Recorded<W>> {
        let inner = self.worker.facets();
        let (keeps, cancels) = (inner.letters().is_some(), inner.canceller().is_some());
        let mut facets = inner.for_wrapper();
        if keeps {
            facets = facets.dead_letters(self);
        }
        if cancels {
            facets = facets.cancels(self);
        }
        facets
    }

    /// A replay: the job may come before its answer does.
    async fn replaying(
        &self,
        id: JobId,
        call: impl Future<Output = Result<bool, WorkerError>>,
    ) -> Result<bool, WorkerError> {
        let id = Hex(id.get());
        self.recorder.note(Event::Replay(OfJob { id }));
        let answer = call.await;
        // An error leaves it open: the dead letter may have been put back.
        if let Ok(done) = answer {
            self.recorder.note(Event::Replayed(Replayed { id, done }));
        }
        answer
    }

    fn discarded(&self, id: JobId, answer: &Result<bool, WorkerError>) {
        if matches!(answer, Ok(true)) {
            self.recorder.note(Event::Discarded(OfJob { id: Hex(id.get()) }));
        }
    }

    fn cancelled<P>(&self, id: JobId, answer: &Result<Option<P>, WorkerError>) {
        if matches!(answer, Ok(Some(_))) {
            self.recorder.note(Event::Cancelled(OfJob { id: Hex(id.get()) }));
        }
    }
}

fn not_there() -> WorkerError {
    WorkerError::fatal("the worker no longer offers what it offered before")
}

#[async_trait]
impl<W: Worker<Job: Fingerprint>> DynDeadLetters<W::Payload> for Operating<W> {
    async fn dead_letters(&self, page: Page) -> Result<Vec<DeadLetter<W::Payload>>, WorkerError> {
        self.worker.facets().letters().ok_or_else(not_there)?.dead_letters(page).await
    }

    async fn replay(&self, id: JobId) -> Result<bool, WorkerError> {
        let keeper = self.worker.facets().letters().ok_or_else(not_there)?;
        self.replaying(id, keeper.replay(id)).await
    }

    async fn discard(&self, id: JobId) -> Result<bool, WorkerError> {
        let answer = self.worker.facets().letters().ok_or_else(not_there)?.discard(id).await;
        self.discarded(id, &answer);
        answer
    }
}

#[async_trait]
impl<W: Worker<Job: Fingerprint>> DynCancels<W::Payload> for Operating<W> {
    async fn cancel(&self, id: JobId) -> Result<Option<W::Payload>, WorkerError> {
        let answer = self.worker.facets().canceller().ok_or_else(not_there)?.cancel(id).await;
        self.cancelled(id, &answer);
        answer
    }
}

impl<W: Retries<Job: Fingerprint>> Retries for Recorded<W> {}
impl<W: Delays<Job: Fingerprint>> Delays for Recorded<W> {}
impl<W: Priorities<Job: Fingerprint>> Priorities for Recorded<W> {}
impl<W: Leases<Job: Fingerprint>> Leases for Recorded<W> {}

impl<W: Inspects<Job: Fingerprint>> Inspects for Recorded<W> {
    async fn inspect(&self) -> Result<Inspection, WorkerError> {
        self.inner().inspect().await
    }
}

impl<W: DeadLetters<Job: Fingerprint>> DeadLetters for Recorded<W> {
    async fn dead_letters(&self, page: Page) -> Result<Vec<DeadLetter<W::Payload>>, WorkerError> {
        self.inner().dead_letters(page).await
    }

    async fn replay(&self, id: JobId) -> Result<bool, WorkerError> {
        self.inner.replaying(id, self.inner().replay(id)).await
    }

    async fn discard(&self, id: JobId) -> Result<bool, WorkerError> {
        let answer = self.inner().discard(id).await;
        self.inner.discarded(id, &answer);
        answer
    }
}

impl<W: Cancels<Job: Fingerprint>> Cancels for Recorded<W> {
    async fn cancel(&self, id: JobId) -> Result<Option<W::Payload>, WorkerError> {
        let answer = self.inner().cancel(id).await;
        self.inner.cancelled(id, &answer);
        answer
    }
}

impl<W: Pauses<Job: Fingerprint>> Pauses for Recorded<W> {
    async fn pause(&self) -> Result<(), WorkerError> {
        self.inner().pause().await
    }

    async fn unpause(&self) -> Result<(), WorkerError> {
        self.inner().unpause().await
    }

    async fn is_paused(&self) -> Result<bool, WorkerError> {
        self.inner().is_paused().await
    }
}
