//! The contract over the ring: queue, request, settle, shut down.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};

use queue_core::{
    Capabilities, Clock, Delivery, DeliveryOf, Demand, Entry, Facets, Feature, JobId, Payload, Refusal, RequestError,
    Room, Settled, SettlingOf, Tally, UnsettledOf, Verdict, Worker, WorkerError,
};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::dead::letter;
use crate::state::{State, Took};
use crate::sync::MutexGuard;
use crate::{Mode, Own, Ring};

impl<J: Send + 'static, M: Mode> Worker for Ring<J, M>
where
    Own<J, M>: Payload<Job = J>,
{
    type Job = J;
    type Payload = Own<J, M>;
    type Receipt = ();
    const ACK_BY_DROP: bool = true;

    #[inline]
    async fn queue(&self, jobs: &mut [Entry<J>], room: Room) -> Result<(), WorkerError> {
        if room == Room::Refuse {
            self.put(jobs, None);
            return Ok(());
        }
        let mut waiting = Waiting { ring: self, ticket: None };
        let ready = |done| if done { Poll::Ready(()) } else { Poll::Pending };
        poll_fn(|cx| ready(self.put(jobs, Some((&mut waiting.ticket, cx))))).await;
        Ok(())
    }

    #[inline]
    fn try_one(&self, job: J) -> Result<JobId, J> {
        let enqueued = self.clock.stamp();
        let mut state = self.state.lock();
        if !state.has_room() {
            return Err(job);
        }
        let id = state.ids.take();
        state.push_new(id, Own::new(job), enqueued);
        let call = state.call_for_new(enqueued);
        drop(state);
        if let Some(waker) = call {
            waker.wake();
        }
        Ok(id)
    }

    fn demand(&self, demand: Demand) {
        self.state.lock().expect(demand.slots, self.capabilities.share);
    }

    #[inline]
    async fn request(&self, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), RequestError> {
        let mut sitting = Sitting { ring: self, seat: None };
        let mut timer = pin!(None::<Sleep>);
        poll_fn(|cx| {
            loop {
                match self.look(max, into, &mut sitting.seat, cx) {
                    Took::Some(..) => return Poll::Ready(Ok(())),
                    Took::Closed => return Poll::Ready(Err(RequestError::Closed)),
                    Took::Wait(due, replaced) => {
                        drop(replaced);
                        let Some(due) = due else { return Poll::Pending };
                        timer.set(Some(sleep_until(due)));
                        if timer.as_mut().as_pin_mut().is_none_or(|timer| timer.poll(cx).is_pending()) {
                            return Poll::Pending;
                        }
                    }
                }
            }
        })
        .await
    }

    #[cold]
    fn give_back(&self, unstarted: &mut VecDeque<DeliveryOf<Self>>) {
        let mut state = self.state.lock();
        while let Some(delivery) = unstarted.pop_back() {
            state.ready.hand_back(delivery);
        }
        let (call, senders) = (state.call(None), state.senders_to_wake(true));
        drop(state);
        if let Some(waker) = call {
            waker.wake();
        }
        self.wake_senders(senders);
    }

    #[inline]
    async fn settle(&self, batch: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        self.settle_now(batch);
        Ok(())
    }

    #[inline]
    fn settle_now(&self, batch: &mut [SettlingOf<Self>]) -> bool {
        // From the last on, so that those handed back end in their old order at the head.
        for settling in batch.iter_mut().rev() {
            let Some((unsettled, verdict)) = settling.asked() else { continue };
            let again = matches!(verdict, Verdict::Retry { .. } | Verdict::Return { .. });
            let settled = if again && unsettled.payload.is_none() { Settled::Gone } else { Settled::Done };
            if let Some((unsettled, verdict)) = settling.answer(settled) {
                self.carry_out(unsettled, verdict);
            }
        }
        true
    }

    fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let (requests, senders) = (state.seats.everybody(), state.senders.len());
        drop(state);
        requests.into_iter().for_each(std::task::Waker::wake);
        self.wake_senders(senders);
    }

    async fn shutdown(&self, _: Instant, unrun: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), WorkerError> {
        self.close();
        self.state.lock().hand_over(unrun);
        Ok(())
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn tally(&self) -> Tally {
        self.state.lock().tally()
    }

    fn facets(&self) -> Facets<'_, Self> {
        let facets = Facets::none().inspects(self).cancels(self).pauses(self);
        if self.capabilities.has(Feature::DeadLetters) { facets.dead_letters(self) } else { facets }
    }
}

impl<J: Send + 'static, M: Mode> Ring<J, M>
where
    Own<J, M>: Payload<Job = J>,
{
    /// Takes jobs while there is room. True when each is answered; where there is no room and `wait` is given, the
    /// enqueuer is registered under the same lock, and under the same lock it leaves once it is served: a ticket that
    /// stayed would take a wake from somebody who waits.
    fn put(&self, jobs: &mut [Entry<J>], wait: Option<(&mut Option<u64>, &Context<'_>)>) -> bool {
        let enqueued = self.clock.stamp();
        let mut done = true;
        let mut state = self.state.lock();
        for entry in jobs.iter_mut().filter(|entry| entry.is_open() && entry.job().is_some()) {
            if let Some(feature) = entry.extra().and_then(|extra| self.capabilities.refuses(extra)) {
                entry.refuse(Refusal::Unsupported(feature));
            } else if state.has_room() {
                accept(&mut state, entry, enqueued);
            } else if state.closed {
                entry.refuse(Refusal::Closed);
            } else if wait.is_some() {
                done = false;
                break;
            } else {
                entry.refuse(Refusal::Full);
            }
        }
        let spent = match wait {
            Some((ticket, cx)) if !done => state.senders.wait(ticket, cx),
            Some((ticket, _)) => ticket.take().and_then(|ticket| state.senders.forget(ticket)),
            None => None,
        };
        let call = state.call(Some(enqueued));
        drop(state);
        drop(spent);
        if let Some(waker) = call {
            waker.wake();
        }
        done
    }

    /// One look of a request, and the wakes that follow from it.
    #[inline]
    fn look(
        &self,
        max: usize,
        into: &mut VecDeque<DeliveryOf<Self>>,
        seat: &mut Option<u32>,
        cx: &Context<'_>,
    ) -> Took {
        let took = self.state.lock().take(max, into, seat, cx);
        let Took::Some(call, senders) = took else { return took };
        if let Some(waker) = call {
            waker.wake();
        }
        if senders > 0 {
            self.wake_senders(senders);
        }
        Took::Some(None, 0)
    }

    /// A verdict. Jobs that end here are dropped without the lock: their drop is user code.
    #[cold]
    fn carry_out(&self, unsettled: UnsettledOf<Self>, verdict: Verdict) {
        let mut meta = unsettled.meta;
        let fallen_out = match (verdict, unsettled.payload) {
            (Verdict::Ack, _) | (Verdict::Retry { .. } | Verdict::Return { .. }, None) => return,
            (Verdict::Retry { after }, Some(payload)) => {
                meta.attempt = meta.attempt.saturating_add(1);
                let mut state = self.state.lock();
                state.push_after(after, Delivery { meta, payload, receipt: () });
                self.call_and_unlock(state);
                None
            }
            (Verdict::Return { after }, Some(payload)) => {
                let mut state = self.state.lock();
                state.hand_back_after(after, Delivery { meta, payload, receipt: () });
                self.call_and_unlock(state);
                None
            }
            (Verdict::Dead { cause }, payload) => {
                let id = meta.id;
                let letter = letter(UnsettledOf::<Self> { meta, payload, receipt: () }, *cause);
                let mut state = self.state.lock();
                state.dead.push(id, letter)
            }
        };
        drop(fallen_out);
    }

    pub(crate) fn call_and_unlock(&self, mut state: MutexGuard<'_, State<Own<J, M>>>) {
        let call = state.call(None);
        drop(state);
        if let Some(waker) = call {
            waker.wake();
        }
    }
}

#[inline]
fn accept<J, M>(state: &mut State<Own<J, M>>, entry: &mut Entry<J>, enqueued: queue_core::Stamp) {
    let id = state.id_for(entry.extra());
    match entry.accept(id) {
        Some((job, None)) => state.push_new(id, Own::new(job), enqueued),
        Some((job, Some(extra))) => state.push_with(id, Own::new(job), extra, enqueued),
        None => {}
    }
}

/// A waiting request. Its drop passes on a call that was meant for it.
struct Sitting<'a, J: Send + 'static, M: Mode>
where
    Own<J, M>: Payload<Job = J>,
{
    ring: &'a Ring<J, M>,
    seat: Option<u32>,
}

impl<J: Send + 'static, M: Mode> Drop for Sitting<'_, J, M>
where
    Own<J, M>: Payload<Job = J>,
{
    #[inline]
    fn drop(&mut self) {
        if let Some(at) = self.seat {
            let mut state = self.ring.state.lock();
            let waker = state.seats.forget(at);
            self.ring.call_and_unlock(state);
            drop(waker);
        }
    }
}

/// A waiting enqueuer. Its drop passes on a wake that was meant for it.
struct Waiting<'a, J: Send + 'static, M: Mode>
where
    Own<J, M>: Payload<Job = J>,
{
    ring: &'a Ring<J, M>,
    ticket: Option<u64>,
}

impl<J: Send + 'static, M: Mode> Drop for Waiting<'_, J, M>
where
    Own<J, M>: Payload<Job = J>,
{
    #[inline]
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let waker = self.ring.state.lock().senders.forget(ticket);
        // It had been woken: the wake is somebody else's.
        if waker.is_none() {
            self.ring.wake_senders(1);
        }
    }
}
