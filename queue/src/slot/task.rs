//! The life of a slot.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use queue_core::{Backoff, Delivery, DeliveryOf, RequestError, Settling, Unsettled, UnsettledOf, Verdict, Worker};
use tokio::time::{Instant, sleep};

use super::Slot;
use super::drive::{Drive, Step};
use super::settle::{contained, settle};
use crate::control::Phase;
use crate::engine::Shared;
use crate::handler::Runs;

/// After so many jobs that never waited the runtime gets a turn.
const YIELD_AFTER: usize = 256;

/// The waits between two requests that fail.
const BACKOFF: Backoff = Backoff::exponential().max(Duration::from_secs(5));

/// What a request brought.
enum Took {
    /// So many.
    Deliveries(usize),
    Nothing,
    /// There will be none.
    Closed,
}

/// A slot with what its jobs need.
pub(crate) struct SlotTask<W: Worker, H, S> {
    pub(crate) shared: Arc<Shared<W>>,
    pub(crate) slot: Arc<Slot>,
    /// Its place among the slots.
    pub(crate) place: usize,
    pub(crate) handler: Arc<(H, S)>,
}

/// Whatever ends a slot's task, its place is free then: also where a runtime that ends never ran it.
impl<W: Worker, H, S> Drop for SlotTask<W, H, S> {
    fn drop(&mut self) {
        self.shared.end_slot(self.place, &self.slot);
    }
}

impl<W: Worker, H, S> SlotTask<W, H, S> {
    pub(crate) async fn run<M>(self)
    where
        H: Runs<M, W::Job, S>,
    {
        self.slot.runs(poll_fn(|cx| Poll::Ready(cx.waker().clone())).await);
        let mut drive = Drive::<_, _, M, _>::new(&self.shared, &self.slot, &self.handler.0, &self.handler.1);
        let mut running = pin!(None);
        let share = self.shared.worker().capabilities().share;
        let (mut max, mut spent, mut failures) = (share, 0, 0);
        while self.follow(&mut drive).await {
            let asks = if self.shared.control.phase() == Phase::Running { max } else { 1 };
            let taken = match self.take(asks, &mut drive, &mut failures).await {
                Took::Deliveries(taken) => taken,
                Took::Nothing => continue,
                Took::Closed => break,
            };
            self.slot.counters.received.add(taken as u64);
            self.shared.watchdog.jobs_came();
            drive.suspended = false;
            drive.asked = asks;
            let mut next = None;
            loop {
                let step = match next.take() {
                    Some(step) => step,
                    None => poll_fn(|cx| drive.drive(running.as_mut(), cx)).await,
                };
                match step {
                    Step::Empty | Step::Control => break,
                    Step::Settle(mut settling) => {
                        let fate = settle(&self.shared, &self.slot, &mut settling).await;
                        drive.completed(fate);
                    }
                    Step::Wait(unsettled, after) => {
                        // Only this job waits here: the others may start in other slots.
                        drive.suspended = true;
                        drive.give_back();
                        drive.start_again(self.wait(unsettled, after).await);
                    }
                    Step::HooksFull => {
                        drive.suspended = true;
                        self.hook_room(drive.seen).await;
                    }
                    Step::HandBack => next = self.hand_back_beside(&mut drive, running.as_mut()).await,
                }
            }
            max = if drive.suspended { 1 } else { (max * 2).min(share) };
            spent += taken;
            if spent >= YIELD_AFTER {
                spent = 0;
                tokio::task::yield_now().await;
            }
        }
        self.hand_back(&mut drive.held).await;
    }

    /// One request. Its errors are told, and waited out.
    async fn take<M>(&self, max: usize, drive: &mut Drive<'_, W, H, M, S>, failures: &mut u32) -> Took
    where
        H: Runs<M, W::Job, S>,
    {
        let (shared, kept) = (&self.shared, drive.held.len());
        let pause = match self.request(max, drive.seen, &mut drive.held).await {
            None => return Took::Nothing,
            Some(Ok(())) => {
                if *failures > 0 || shared.monitor.broker {
                    shared.monitor.answered();
                }
                *failures = 0;
                if !drive.held.is_empty() {
                    return Took::Deliveries(drive.held.len() - kept);
                }
                if shared.control.phase() > Phase::Running {
                    return Took::Closed;
                }
                shared.monitor.empty_turn()
            }
            Some(Err(RequestError::Worker(error))) => {
                *failures += 1;
                shared.monitor.failed(&error, "A request failed; it is made again.");
                BACKOFF.wait(*failures)
            }
            // Closed, or an answer of a later contract that this engine does not know.
            Some(Err(_)) => {
                if shared.control.phase() == Phase::Running {
                    shared.monitor.close();
                }
                return Took::Closed;
            }
        };
        // The begin of a drain cuts the wait, but not those within it: the slot would ask without end.
        let until = if shared.control.phase() == Phase::Running { Phase::Draining } else { Phase::Stopping };
        self::pause(shared, &self.slot, pause, until).await;
        Took::Nothing
    }

    /// Follows what the slots were told since. False if this one shall end.
    async fn follow<M>(&self, drive: &mut Drive<'_, W, H, M, S>) -> bool
    where
        H: Runs<M, W::Job, S>,
    {
        let epoch = self.shared.control.epoch();
        if epoch == drive.seen {
            return true;
        }
        drive.seen = epoch;
        let phase = self.shared.control.phase();
        let wanted = match phase {
            Phase::Running | Phase::Draining => !self.shared.has_surplus(),
            Phase::Stopping | Phase::Cancelling | Phase::GivingUp => false,
        };
        if !wanted || phase == Phase::Draining {
            // To the other slots, where the worker takes it at once; what this one keeps it drains itself.
            drive.give_back();
        }
        if !wanted {
            self.hand_back(&mut drive.held).await;
        }
        if !wanted && self.shared.retire(self.place, &self.slot) {
            return false;
        }
        self.slot.seen.store(epoch, Ordering::Release);
        self.shared.slots_changed.notify_waiters();
        true
    }

    /// A request that gives way to whatever the slots are told. None: they were told something.
    async fn request(
        &self,
        max: usize,
        seen: u32,
        held: &mut VecDeque<DeliveryOf<W>>,
    ) -> Option<Result<(), RequestError>> {
        if !held.is_empty() {
            // A change of control that left the slot its jobs.
            return Some(Ok(()));
        }
        let mut request = pin!(self.shared.worker().request(max, held));
        let answer = poll_fn(|cx| {
            if self.shared.control.epoch() != seen {
                return Poll::Ready(None);
            }
            let polled = contained("request", || request.as_mut().poll(cx));
            match polled.unwrap_or_else(|error| Poll::Ready(Err(error.into()))) {
                Poll::Ready(answer) => Poll::Ready(Some(answer)),
                Poll::Pending => {
                    self.waits();
                    Poll::Pending
                }
            }
        })
        .await;
        if self.shared.monitor.broker {
            self.slot.set_waits_since(0);
        }
        answer
    }

    /// The slot has found nothing to do.
    #[cold]
    fn waits(&self) {
        self.shared.calm.perhaps();
        if self.shared.monitor.broker && self.slot.waits_since().is_none() {
            self.slot.set_waits_since(self.shared.watchdog.nanos(Instant::now()).max(1));
        }
    }

    /// Waits until an attempt may start, or the slots are told something.
    async fn hook_room(&self, seen: u32) {
        let mut room = pin!(self.shared.hook_room());
        poll_fn(|cx| if self.shared.control.epoch() != seen { Poll::Ready(()) } else { room.as_mut().poll(cx) }).await;
    }

    /// Returns what the worker would not take back at once.
    async fn hand_back(&self, held: &mut VecDeque<DeliveryOf<W>>) {
        for delivery in held.drain(..) {
            let mut settling = Settling::new(delivery.into(), Verdict::Return { after: Duration::ZERO });
            settle(&self.shared, &self.slot, &mut settling).await;
        }
    }

    /// The same while a handler runs. What it comes to meanwhile is done afterwards.
    async fn hand_back_beside<M>(
        &self,
        drive: &mut Drive<'_, W, H, M, S>,
        mut running: Pin<&mut Option<H::Future>>,
    ) -> Option<Step<W>>
    where
        H: Runs<M, W::Job, S>,
    {
        let mut held = std::mem::take(&mut drive.held);
        let mut back = Box::pin(self.hand_back(&mut held));
        let mut step = None;
        poll_fn(|cx| {
            let back = back.as_mut().poll(cx);
            if step.is_none()
                && let Poll::Ready(next) = drive.drive(running.as_mut(), cx)
            {
                step = Some(next);
            }
            back
        })
        .await;
        step
    }

    /// The wait of a job that keeps its slot. None: a shutdown cut it, and the job is at the worker again.
    async fn wait(&self, unsettled: UnsettledOf<W>, after: Duration) -> Option<DeliveryOf<W>> {
        self.slot.counters.set_waits(true);
        let start = Instant::now();
        pause(&self.shared, &self.slot, after, Phase::Draining).await;
        let again = if self.shared.control.phase() == Phase::Running {
            next_attempt(unsettled)
        } else {
            let after = after.saturating_sub(start.elapsed());
            let mut settling = Settling::new(unsettled, Verdict::Retry { after });
            settle(&self.shared, &self.slot, &mut settling).await;
            None
        };
        self.slot.counters.set_waits(false);
        again
    }
}

/// The same job, one attempt on. The worker kept its payload: only then is there a next attempt.
fn next_attempt<P, R>(unsettled: Unsettled<P, R>) -> Option<Delivery<P, R>> {
    let Unsettled { mut meta, payload, receipt } = unsettled;
    meta.attempt = meta.attempt.saturating_add(1);
    payload.map(|payload| Delivery { meta, payload, receipt })
}

/// Sleeps, unless a shutdown comes as far as `until`. No time is no timer, whose least wait is a millisecond: only the
/// runtime gets its turn where it is due.
pub(super) async fn pause<W: Worker>(shared: &Shared<W>, slot: &Slot, time: Duration, until: Phase) {
    if time.is_zero() {
        shared.starts_nothing(slot);
        return tokio::task::coop::consume_budget().await;
    }
    let mut sleep = pin!(sleep(time));
    poll_fn(|cx| {
        shared.starts_nothing(slot);
        if shared.control.phase() >= until { Poll::Ready(()) } else { sleep.as_mut().poll(cx) }
    })
    .await;
}
