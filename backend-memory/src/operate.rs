//! What an operator asks the ring: counts, dead letters, cancel, pause.

use queue_core::{
    Cancels, DeadLetter, DeadLetters, Delays, Delivery, Inspection, Inspects, JobId, Meta, Page, Pauses, Payload,
    Priorities, Retries, Stamp, WorkerError,
};

use crate::dead::{Letter, copy};
use crate::{Cloned, Mode, Own, Ring};

impl<J: Clone + Send + 'static> Retries for Ring<J, Cloned> {}
impl<J: Send + 'static, M: Mode> Delays for Ring<J, M> where Own<J, M>: Payload<Job = J> {}
impl<J: Send + 'static, M: Mode> Priorities for Ring<J, M> where Own<J, M>: Payload<Job = J> {}

impl<J: Send + 'static, M: Mode> Inspects for Ring<J, M>
where
    Own<J, M>: Payload<Job = J>,
{
    async fn inspect(&self) -> Result<Inspection, WorkerError> {
        let state = self.state.lock();
        let mut counts = Inspection::default();
        counts.ready = state.ready.len() as u64;
        counts.waiting = state.delayed.len() as u64;
        counts.dead = state.dead.len() as u64;
        counts.dead_dropped = state.dead.dropped();
        counts.oldest = state.ready.heads().map(|head| self.clock.age(head.meta.enqueued)).max();
        Ok(counts)
    }
}

impl<J: Send + 'static, M: Mode> DeadLetters for Ring<J, M>
where
    Own<J, M>: Payload<Job = J>,
{
    async fn dead_letters(&self, page: Page) -> Result<Vec<DeadLetter<Own<J, M>>>, WorkerError> {
        let letters = self.state.lock().dead.page(page);
        Ok(letters.iter().map(copy).collect())
    }

    async fn replay(&self, id: JobId) -> Result<bool, WorkerError> {
        let Some(letter) = self.state.lock().dead.find(id) else { return Ok(false) };
        // Without the ring's lock: a listing may be cloning the job, and a clone is user code.
        let Some(delivery) = revive(&letter, self.clock.stamp()) else { return Ok(false) };
        let mut state = self.state.lock();
        if state.closed {
            drop(state);
            letter.lock().payload = Some(delivery.payload);
            return Err(WorkerError::fatal("the ring is closed: a dead letter cannot be put back"));
        }
        // It may have been discarded since.
        let removed = state.dead.remove(id);
        if removed.is_some() {
            state.push_again(delivery);
        }
        self.call_and_unlock(state);
        Ok(removed.is_some())
    }

    async fn discard(&self, id: JobId) -> Result<bool, WorkerError> {
        let letter = self.state.lock().dead.remove(id);
        Ok(letter.is_some())
    }
}

/// The job of a dead letter as one that was never tried. None where the letter has no job.
fn revive<P>(letter: &Letter<P>, enqueued: Stamp) -> Option<Delivery<P, ()>> {
    let mut letter = letter.lock();
    let payload = letter.payload.take()?;
    let mut extra = letter.meta.extra.clone();
    if let Some(extra) = &mut extra {
        extra.deadline = None;
    }
    Some(Delivery { meta: Meta { id: letter.meta.id, attempt: 1, enqueued, extra }, payload, receipt: () })
}

impl<J: Send + 'static, M: Mode> Cancels for Ring<J, M>
where
    Own<J, M>: Payload<Job = J>,
{
    async fn cancel(&self, id: JobId) -> Result<Option<Own<J, M>>, WorkerError> {
        let mut state = self.state.lock();
        let found = state.ready.cancel(id).or_else(|| state.delayed.cancel(id));
        state.cancelled += u64::from(found.is_some());
        let senders = state.senders_to_wake(true);
        drop(state);
        self.wake_senders(senders);
        Ok(found.map(|delivery| delivery.payload))
    }
}

impl<J: Send + 'static, M: Mode> Pauses for Ring<J, M>
where
    Own<J, M>: Payload<Job = J>,
{
    async fn pause(&self) -> Result<(), WorkerError> {
        let mut state = self.state.lock();
        state.paused = true;
        // Nobody takes a job any more: there is no half empty to wait for.
        let senders = state.senders_to_wake(true);
        drop(state);
        self.wake_senders(senders);
        Ok(())
    }

    async fn unpause(&self) -> Result<(), WorkerError> {
        let mut state = self.state.lock();
        state.paused = false;
        self.call_and_unlock(state);
        Ok(())
    }

    async fn is_paused(&self) -> Result<bool, WorkerError> {
        Ok(self.state.lock().paused)
    }
}
