//! The trait behind `DynWorker`, and its one implementation.

use std::collections::VecDeque;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::payload::{DynPayload, DynReceipt, unwrap_delivery, unwrap_unsettled, wrap, wrap_delivery, wrap_unsettled};
use crate::delivery::State;
use crate::facets::{DynCancels, DynDeadLetters, DynInspects, DynPauses};
use crate::{
    Capabilities, Clock, DeadLetter, Delivery, DeliveryOf, Demand, Entry, Events, JobId, Page, Receipt, RequestError,
    Room, Settled, Settling, SettlingOf, Tally, Verdict, Worker, WorkerError,
};

type DynDelivery<J> = Delivery<DynPayload<J>, DynReceipt>;
type DynSettling<J> = Settling<DynPayload<J>, DynReceipt>;

/// [`Worker`], object-safe.
#[async_trait]
pub(super) trait Erased<J: Send + 'static>: Send + Sync + 'static {
    async fn queue(&self, jobs: &mut [Entry<J>], room: Room) -> Result<(), WorkerError>;
    fn try_one(&self, job: J) -> Result<JobId, J>;
    fn demand(&self, demand: Demand);
    async fn request(&self, max: usize, into: &mut VecDeque<DynDelivery<J>>) -> Result<(), RequestError>;
    fn give_back(&self, unstarted: &mut VecDeque<DynDelivery<J>>);
    async fn settle(&self, batch: &mut [DynSettling<J>]) -> Result<(), WorkerError>;
    fn settle_now(&self, batch: &mut [DynSettling<J>]) -> bool;
    fn close(&self);
    async fn shutdown(&self, deadline: Instant, unrun: &mut VecDeque<DynDelivery<J>>) -> Result<(), WorkerError>;
    fn capabilities(&self) -> &Capabilities;
    fn clock(&self) -> &Clock;
    fn tally(&self) -> Tally;
    fn events(&self) -> Events;
    fn inspects(&self) -> Option<&dyn DynInspects>;
    fn dead_letters(&self) -> Option<&dyn DynDeadLetters<DynPayload<J>>>;
    fn cancels(&self) -> Option<&dyn DynCancels<DynPayload<J>>>;
    fn pauses(&self) -> Option<&dyn DynPauses>;
}

/// A worker, and scratch space so that a request allocates no vector.
pub(super) struct Twin<W: Worker> {
    worker: W,
    spare: Mutex<Vec<VecDeque<DeliveryOf<W>>>>,
}

impl<W: Worker> Twin<W> {
    pub(super) const fn new(worker: W) -> Self {
        Self { worker, spare: Mutex::new(Vec::new()) }
    }
}

/// The worker's own form of a batch. Its drop writes the answers back, and what was not answered: a dropped settle loses nothing.
struct Opened<'a, W: Worker> {
    batch: &'a mut [DynSettling<W::Job>],
    own: Vec<SettlingOf<W>>,
}

impl<'a, W: Worker> Opened<'a, W> {
    fn new(batch: &'a mut [DynSettling<W::Job>]) -> Self {
        let own = batch.iter_mut().map(open::<W>).collect();
        Self { batch, own }
    }
}

impl<W: Worker> Drop for Opened<'_, W> {
    fn drop(&mut self) {
        for (outside, own) in self.batch.iter_mut().zip(self.own.drain(..)) {
            *outside = close(own);
        }
    }
}

fn open<W: Worker>(settling: &mut DynSettling<W::Job>) -> SettlingOf<W> {
    let State::Asked(unsettled, verdict) = std::mem::replace(&mut settling.0, State::Answered(Settled::Done)) else {
        return Settling(State::Answered(settling.answered().unwrap_or(Settled::Done)));
    };
    match unwrap_unsettled(unsettled) {
        Some(own) => Settling::new(own, verdict),
        // A box of another worker's making was never ours.
        None => Settling(State::Answered(Settled::LostOwnership)),
    }
}

fn close<P: crate::Payload, R: Receipt>(own: Settling<P, R>) -> DynSettling<P::Job>
where
    P::Job: Send + 'static,
{
    match own.0 {
        State::Asked(unsettled, verdict) => Settling::new(wrap_unsettled(unsettled), verdict),
        State::Answered(settled) => Settling(State::Answered(settled)),
    }
}

#[async_trait]
impl<W: Worker> Erased<W::Job> for Twin<W> {
    async fn queue(&self, jobs: &mut [Entry<W::Job>], room: Room) -> Result<(), WorkerError> {
        self.worker.queue(jobs, room).await
    }

    fn try_one(&self, job: W::Job) -> Result<JobId, W::Job> {
        self.worker.try_one(job)
    }

    fn demand(&self, demand: Demand) {
        self.worker.demand(demand);
    }

    async fn request(&self, max: usize, into: &mut VecDeque<DynDelivery<W::Job>>) -> Result<(), RequestError> {
        let mut batch = self.spare.lock().pop().unwrap_or_default();
        let answer = self.worker.request(max, &mut batch).await;
        into.extend(batch.drain(..).map(wrap_delivery));
        self.spare.lock().push(batch);
        answer
    }

    fn give_back(&self, unstarted: &mut VecDeque<DynDelivery<W::Job>>) {
        let mut own: VecDeque<_> = unstarted.drain(..).filter_map(unwrap_delivery).collect();
        self.worker.give_back(&mut own);
        unstarted.extend(own.drain(..).map(wrap_delivery));
    }

    async fn settle(&self, batch: &mut [DynSettling<W::Job>]) -> Result<(), WorkerError> {
        let mut opened = Opened::<W>::new(batch);
        self.worker.settle(&mut opened.own).await
    }

    fn settle_now(&self, batch: &mut [DynSettling<W::Job>]) -> bool {
        let mut all = true;
        for outside in batch {
            if W::ACK_BY_DROP && matches!(outside.asked(), Some((_, Verdict::Ack))) {
                drop(outside.answer(Settled::Done));
                continue;
            }
            let mut own = open::<W>(outside);
            all &= self.worker.settle_now(std::slice::from_mut(&mut own));
            *outside = close(own);
        }
        all
    }

    fn close(&self) {
        self.worker.close();
    }

    async fn shutdown(&self, deadline: Instant, unrun: &mut VecDeque<DynDelivery<W::Job>>) -> Result<(), WorkerError> {
        let mut own = VecDeque::new();
        let answer = self.worker.shutdown(deadline, &mut own).await;
        unrun.extend(own.drain(..).map(wrap_delivery));
        answer
    }

    fn capabilities(&self) -> &Capabilities {
        self.worker.capabilities()
    }

    fn clock(&self) -> &Clock {
        self.worker.clock()
    }

    fn tally(&self) -> Tally {
        self.worker.tally()
    }

    fn events(&self) -> Events {
        self.worker.events()
    }

    fn inspects(&self) -> Option<&dyn DynInspects> {
        self.worker.facets().inspects
    }

    fn dead_letters(&self) -> Option<&dyn DynDeadLetters<DynPayload<W::Job>>> {
        self.worker.facets().dead_letters.map(|_| self as _)
    }

    fn cancels(&self) -> Option<&dyn DynCancels<DynPayload<W::Job>>> {
        self.worker.facets().cancels.map(|_| self as _)
    }

    fn pauses(&self) -> Option<&dyn DynPauses> {
        self.worker.facets().pauses
    }
}

fn not_there() -> WorkerError {
    WorkerError::fatal("the worker no longer offers what it offered before")
}

#[async_trait]
impl<W: Worker> DynDeadLetters<DynPayload<W::Job>> for Twin<W> {
    async fn dead_letters(&self, page: Page) -> Result<Vec<DeadLetter<DynPayload<W::Job>>>, WorkerError> {
        let facet = self.worker.facets().dead_letters.ok_or_else(not_there)?;
        let letters = facet.dead_letters(page).await?;
        Ok(letters
            .into_iter()
            .map(|letter| DeadLetter {
                meta: letter.meta,
                cause: letter.cause,
                payload: letter.payload.map(|payload| wrap(Some(payload), ()).0),
            })
            .collect())
    }

    async fn replay(&self, id: JobId) -> Result<bool, WorkerError> {
        self.worker.facets().dead_letters.ok_or_else(not_there)?.replay(id).await
    }

    async fn discard(&self, id: JobId) -> Result<bool, WorkerError> {
        self.worker.facets().dead_letters.ok_or_else(not_there)?.discard(id).await
    }
}

#[async_trait]
impl<W: Worker> DynCancels<DynPayload<W::Job>> for Twin<W> {
    async fn cancel(&self, id: JobId) -> Result<Option<DynPayload<W::Job>>, WorkerError> {
        let found = self.worker.facets().cancels.ok_or_else(not_there)?.cancel(id).await?;
        Ok(found.map(|payload| wrap(Some(payload), ()).0))
    }
}
