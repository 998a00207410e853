//! A worker that passes everything on and notes what was settled: what the engine drives in the suite's rows.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use queue_core::{
    Capabilities, Clock, Delays, DeliveryOf, Demand, Entry, Events, JobId, Leases, Priorities, RequestError, Retries,
    Room, Settled, SettlingOf, Tally, Worker, WorkerError,
};
use tokio::time::Instant;

/// A delivery, told by its job and attempt.
pub(crate) type Which = (JobId, u32);

/// Something that was noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    /// A delivery was handed out.
    Taken(Which),
    /// Its handler has ended.
    Ended(Which),
    /// A verdict was asked for: each try.
    Asked(Which),
    /// A verdict was answered.
    Answered(Which, Settled),
}

/// What was noted so far, in order. The handle stays when the worker goes to a queue.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<Note>>>);

impl Notes {
    pub(crate) fn add(&self, note: Note) {
        self.0.lock().push(note);
    }

    pub(crate) fn all(&self) -> Vec<Note> {
        self.0.lock().clone()
    }

    pub(crate) fn count(&self, counts: impl Fn(&Note) -> bool) -> usize {
        self.0.lock().iter().filter(|note| counts(note)).count()
    }
}

/// The worker with its notes. Its type has every marker, so that a row can ask for anything: what `W` cannot do it says at run time.
pub(crate) struct Probe<W> {
    worker: W,
    notes: Notes,
}

impl<W: Worker> Probe<W> {
    pub(crate) fn new(worker: W) -> (Self, Notes) {
        let notes = Notes::default();
        (Self { worker, notes: notes.clone() }, notes)
    }

    pub(crate) const fn inner(&self) -> &W {
        &self.worker
    }

    fn note_asked(&self, batch: &[SettlingOf<W>]) -> Vec<Option<Which>> {
        let which = batch.iter().map(|settling| settling.asked().map(|(asked, _)| (asked.meta.id, asked.meta.attempt)));
        let which: Vec<Option<Which>> = which.collect();
        which.iter().flatten().for_each(|which| self.notes.add(Note::Asked(*which)));
        which
    }

    fn note_answered(&self, which: &[Option<Which>], batch: &[SettlingOf<W>]) {
        for (which, settling) in which.iter().zip(batch) {
            if let (Some(which), Some(settled)) = (which, settling.answered()) {
                self.notes.add(Note::Answered(*which, settled));
            }
        }
    }
}

impl<W: Worker> Worker for Probe<W> {
    type Job = W::Job;
    type Payload = W::Payload;
    type Receipt = W::Receipt;

    async fn queue(&self, jobs: &mut [Entry<W::Job>], room: Room) -> Result<(), WorkerError> {
        self.worker.queue(jobs, room).await
    }

    fn try_one(&self, job: W::Job) -> Result<JobId, W::Job> {
        self.worker.try_one(job)
    }

    fn demand(&self, demand: Demand) {
        self.worker.demand(demand);
    }

    async fn request(&self, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), RequestError> {
        let before = into.len();
        let answer = self.worker.request(max, into).await;
        into.range(before..).for_each(|it| self.notes.add(Note::Taken((it.meta.id, it.meta.attempt))));
        answer
    }

    fn give_back(&self, unstarted: &mut VecDeque<DeliveryOf<Self>>) {
        self.worker.give_back(unstarted);
    }

    async fn settle(&self, batch: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        let which = self.note_asked(batch);
        let answer = self.worker.settle(batch).await;
        self.note_answered(&which, batch);
        answer
    }

    fn settle_now(&self, batch: &mut [SettlingOf<Self>]) -> bool {
        // Its own `settle` answers the same, and notes it.
        batch.iter().all(|settling| settling.answered().is_some())
    }

    fn close(&self) {
        self.worker.close();
    }

    async fn shutdown(&self, deadline: Instant, unrun: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), WorkerError> {
        self.worker.shutdown(deadline, unrun).await
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
}

impl<W: Worker> Retries for Probe<W> {}
impl<W: Worker> Delays for Probe<W> {}
impl<W: Worker> Priorities for Probe<W> {}
impl<W: Worker> Leases for Probe<W> {}
