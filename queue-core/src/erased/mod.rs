//! The object-safe twin: a worker whose broker is chosen at run time.

mod payload;
mod twin;

use std::collections::VecDeque;
use std::fmt;

use tokio::time::Instant;

use self::twin::{Erased, Twin};
use crate::facets::{DynCancels, DynDeadLetters, DynInspects, DynPauses};
use crate::{
    Cancels, Capabilities, Clock, DeadLetter, DeadLetters, Delays, DeliveryOf, Demand, Entry, Events, Facets, Feature,
    Inspection, Inspects, JobId, Leases, Page, Pauses, Priorities, RequestError, Retries, Room, Settled, SettlingOf,
    Tally, Verdict, Worker, WorkerError,
};

pub use self::payload::{DynPayload, DynReceipt};

/// A worker behind one type, whatever its broker: made by [`Worker::boxed`].
///
/// It is a [`Worker`] itself, and costs one allocation a delivery. What its broker cannot do is then no longer an error of the compiler
/// but of `start`, or of the call, which names backend and feature.
pub struct DynWorker<J> {
    twin: Box<dyn Erased<J>>,
    /// The inner worker's `ACK_BY_DROP`: an ack then costs no call.
    ack_by_drop: bool,
}

impl<J: Send + 'static> DynWorker<J> {
    /// The twin of `worker`.
    #[must_use]
    pub fn new<W: Worker<Job = J>>(worker: W) -> Self {
        Self { twin: Box::new(Twin::new(worker)), ack_by_drop: W::ACK_BY_DROP }
    }
}

impl<J: Send + 'static> fmt::Debug for DynWorker<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynWorker").field("backend", &self.twin.capabilities().backend).finish()
    }
}

impl<J: Send + 'static> Worker for DynWorker<J> {
    type Job = J;
    type Payload = DynPayload<J>;
    type Receipt = DynReceipt;

    async fn queue(&self, jobs: &mut [Entry<J>], room: Room) -> Result<(), WorkerError> {
        self.twin.queue(jobs, room).await
    }

    fn try_one(&self, job: J) -> Result<JobId, J> {
        self.twin.try_one(job)
    }

    fn demand(&self, demand: Demand) {
        self.twin.demand(demand);
    }

    async fn request(&self, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), RequestError> {
        self.twin.request(max, into).await
    }

    fn give_back(&self, unstarted: &mut VecDeque<DeliveryOf<Self>>) {
        self.twin.give_back(unstarted);
    }

    async fn settle(&self, batch: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        self.twin.settle(batch).await
    }

    #[inline]
    fn settle_now(&self, batch: &mut [SettlingOf<Self>]) -> bool {
        if self.ack_by_drop
            && let [settling] = batch
            && matches!(settling.asked(), Some((_, Verdict::Ack)))
        {
            drop(settling.answer(Settled::Done));
            return true;
        }
        self.twin.settle_now(batch)
    }

    fn close(&self) {
        self.twin.close();
    }

    async fn shutdown(&self, deadline: Instant, unrun: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), WorkerError> {
        self.twin.shutdown(deadline, unrun).await
    }

    fn capabilities(&self) -> &Capabilities {
        self.twin.capabilities()
    }

    fn clock(&self) -> &Clock {
        self.twin.clock()
    }

    fn tally(&self) -> Tally {
        self.twin.tally()
    }

    fn events(&self) -> Events {
        self.twin.events()
    }

    fn facets(&self) -> Facets<'_, Self> {
        let (twin, none) = (&self.twin, Facets::none());
        let facets = if twin.inspects().is_some() { none.inspects(self) } else { none };
        let facets = if twin.dead_letters().is_some() { facets.dead_letters(self) } else { facets };
        let facets = if twin.cancels().is_some() { facets.cancels(self) } else { facets };
        if twin.pauses().is_some() { facets.pauses(self) } else { facets }
    }
}

// What the broker behind it cannot do is asked by value, at `start` or at the call.
impl<J: Send + 'static> Retries for DynWorker<J> {}
impl<J: Send + 'static> Delays for DynWorker<J> {}
impl<J: Send + 'static> Priorities for DynWorker<J> {}
impl<J: Send + 'static> Leases for DynWorker<J> {}

impl<J: Send + 'static> DynWorker<J> {
    fn unsupported(&self, feature: Feature) -> WorkerError {
        WorkerError::fatal(format!("the {} worker has no {feature}", self.twin.capabilities().backend))
    }

    fn inspects(&self) -> Result<&dyn DynInspects, WorkerError> {
        self.twin.inspects().ok_or_else(|| self.unsupported(Feature::Inspects))
    }

    fn dead_letters_twin(&self) -> Result<&dyn DynDeadLetters<DynPayload<J>>, WorkerError> {
        self.twin.dead_letters().ok_or_else(|| self.unsupported(Feature::DeadLetters))
    }

    fn cancels(&self) -> Result<&dyn DynCancels<DynPayload<J>>, WorkerError> {
        self.twin.cancels().ok_or_else(|| self.unsupported(Feature::Cancels))
    }

    fn pauses(&self) -> Result<&dyn DynPauses, WorkerError> {
        self.twin.pauses().ok_or_else(|| self.unsupported(Feature::Pauses))
    }
}

impl<J: Send + 'static> Inspects for DynWorker<J> {
    async fn inspect(&self) -> Result<Inspection, WorkerError> {
        self.inspects()?.inspect().await
    }
}

impl<J: Send + 'static> DeadLetters for DynWorker<J> {
    async fn dead_letters(&self, page: Page) -> Result<Vec<DeadLetter<DynPayload<J>>>, WorkerError> {
        self.dead_letters_twin()?.dead_letters(page).await
    }

    async fn replay(&self, id: JobId) -> Result<bool, WorkerError> {
        self.dead_letters_twin()?.replay(id).await
    }

    async fn discard(&self, id: JobId) -> Result<bool, WorkerError> {
        self.dead_letters_twin()?.discard(id).await
    }
}

impl<J: Send + 'static> Cancels for DynWorker<J> {
    async fn cancel(&self, id: JobId) -> Result<Option<DynPayload<J>>, WorkerError> {
        self.cancels()?.cancel(id).await
    }
}

impl<J: Send + 'static> Pauses for DynWorker<J> {
    async fn pause(&self) -> Result<(), WorkerError> {
        self.pauses()?.pause().await
    }

    async fn unpause(&self) -> Result<(), WorkerError> {
        self.pauses()?.unpause().await
    }

    async fn is_paused(&self) -> Result<bool, WorkerError> {
        self.pauses()?.is_paused().await
    }
}
