//! The path of a job through a slot: taken, started, polled, ended. A whole batch runs inside one poll.

use std::collections::VecDeque;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use queue_core::{
    Cause, Delivery, DeliveryOf, Meta, Payload, Reason, Receipt, Settling, SettlingOf, Undecodable, Unsettled,
    UnsettledOf, Verdict, Worker,
};
use tokio::time::Instant;

use super::Slot;
use super::end::End;
use crate::completion::{AttemptEnd, Fate, Observed};
use crate::control::Phase;
use crate::engine::Shared;
use crate::handler::{At, CancelReason, Chosen, HandlerResult, Judgement, Runs};
use crate::log::{JobSpan, log};
use crate::policy::Plan;

/// What a slot's task has to wait for.
pub(super) enum Step<W: Worker> {
    /// Everything that was held is done.
    Empty,
    /// The slots were told something.
    Control,
    /// The worker needs I/O to hear of the verdict.
    Settle(SettlingOf<W>),
    /// The job is tried again in this slot, after a wait.
    Wait(UnsettledOf<W>, std::time::Duration),
    /// Nothing starts any more: what is held goes back, though a handler still runs.
    HandBack,
}

/// How the path goes on.
pub(super) enum Flow<W: Worker> {
    Next,
    Pending,
    Step(Step<W>),
}

/// A job whose handler waits for something.
pub(super) struct Suspended<W: Worker> {
    pub(super) unsettled: UnsettledOf<W>,
    pub(super) plan: Plan,
    /// When it times out, in nanoseconds on the engine's clock.
    times_out: Option<u64>,
    /// It was told to stop, and cannot be stopped.
    stuck: bool,
}

/// What the slot has in its hands.
pub(super) struct Drive<'a, W: Worker, H, M, S> {
    pub(super) shared: &'a Shared<W>,
    pub(super) slot: &'a Arc<Slot>,
    handler: &'a H,
    state: &'a S,
    /// Deliveries that have not started.
    pub(super) held: VecDeque<DeliveryOf<W>>,
    /// The next attempt of a job that has waited for it in this slot.
    again: Option<DeliveryOf<W>>,
    /// A handler waits, or another attempt is due: they come before what is held.
    unfinished: bool,
    current: Option<Suspended<W>>,
    /// The running handler's attempt was settled; it cannot be stopped, and its result changes nothing.
    overdue: bool,
    /// How many the last request asked for; 1 again once a job of it has waited for something.
    pub(super) asked: usize,
    /// A handler of the last batch waited for something.
    pub(super) suspended: bool,
    /// The last change of control that was followed.
    pub(super) seen: u32,
    /// The attempt, where somebody wants to hear of it.
    pub(super) observed: Option<Observed>,
    marker: PhantomData<fn() -> M>,
}

type Polled<O> = Poll<Result<O, Box<Cause>>>;

impl<'a, W, H, M, S> Drive<'a, W, H, M, S>
where
    W: Worker,
    H: Runs<M, W::Job, S>,
{
    pub(super) fn new(shared: &'a Shared<W>, slot: &'a Arc<Slot>, handler: &'a H, state: &'a S) -> Self {
        Self {
            shared,
            slot,
            handler,
            state,
            held: VecDeque::with_capacity(shared.worker().capabilities().share.min(64)),
            again: None,
            unfinished: false,
            current: None,
            overdue: false,
            asked: 1,
            suspended: false,
            seen: u32::MAX,
            observed: None,
            marker: PhantomData,
        }
    }

    /// Runs what is held until something has to be waited for.
    #[inline]
    pub(super) fn drive(&mut self, running: Pin<&mut Option<H::Future>>, cx: &mut Context<'_>) -> Poll<Step<W>> {
        if self.shared.observes() { self.drive_observed(running, cx) } else { self.drive_as::<false>(running, cx) }
    }

    /// The same where somebody wants to hear of each attempt: compiled apart, so that the others pay nothing for it.
    #[cold]
    #[inline(never)]
    fn drive_observed(&mut self, running: Pin<&mut Option<H::Future>>, cx: &mut Context<'_>) -> Poll<Step<W>> {
        self.drive_as::<true>(running, cx)
    }

    #[inline(always)]
    fn drive_as<const OBSERVED: bool>(
        &mut self,
        mut running: Pin<&mut Option<H::Future>>,
        cx: &mut Context<'_>,
    ) -> Poll<Step<W>> {
        loop {
            let delivery = if self.unfinished {
                match self.go_on(running.as_mut(), cx) {
                    Ok(delivery) => delivery,
                    Err(Flow::Next) => continue,
                    Err(Flow::Pending) => return Poll::Pending,
                    Err(Flow::Step(step)) => return Poll::Ready(step),
                }
            } else if self.shared.control.epoch() != self.seen {
                return Poll::Ready(Step::Control);
            } else if let Some(delivery) = self.held.pop_front() {
                delivery
            } else {
                return Poll::Ready(Step::Empty);
            };
            match self.start::<OBSERVED>(delivery, running.as_mut(), cx) {
                Flow::Next => {}
                Flow::Pending => return Poll::Pending,
                Flow::Step(step) => return Poll::Ready(step),
            }
        }
    }

    /// What comes before the deliveries that are held: a handler that waits, or another attempt of its job.
    #[cold]
    #[inline(never)]
    fn go_on(&mut self, running: Pin<&mut Option<H::Future>>, cx: &mut Context<'_>) -> Result<DeliveryOf<W>, Flow<W>> {
        if running.is_some() {
            return Err(self.resume(running, cx));
        }
        self.unfinished = false;
        self.again.take().ok_or(Flow::Next)
    }

    /// A job starts next whatever the slots are told: its wait for another attempt is over.
    pub(super) fn start_again(&mut self, delivery: Option<DeliveryOf<W>>) {
        self.unfinished |= delivery.is_some();
        self.again = delivery;
    }

    /// The verdict is carried out: whoever wants to hear of the attempt does.
    #[inline]
    pub(super) fn completed(&mut self, fate: Fate) {
        if let Some(observed) = self.observed.take() {
            self.shared.tell(observed, fate);
        }
    }

    /// The first poll of an attempt. Most jobs end here.
    #[inline(always)]
    fn start<const OBSERVED: bool>(
        &mut self,
        delivery: DeliveryOf<W>,
        mut running: Pin<&mut Option<H::Future>>,
        cx: &mut Context<'_>,
    ) -> Flow<W> {
        let Delivery { meta, payload, receipt } = delivery;
        let span = if OBSERVED { Some(self.observed.insert(self.shared.observe(&meta)).span.clone()) } else { None };
        let _inside = span.as_ref().map(JobSpan::enter);
        let policy = &self.shared.policy;
        let own;
        let plan = if H::CHOOSES || meta.extra.is_none() && policy.is_plain() {
            &policy.plan
        } else {
            own = policy.plan_of(&meta, || self.shared.worker().clock().age(meta.enqueued));
            &own
        };
        if !H::CHOOSES
            && (meta.attempt > plan.attempts || plan.deadline.is_some())
            && let Some(cause) = plan.never_starts(meta.attempt)
        {
            return self.reject(Unsettled { meta, payload: Some(payload), receipt }, Box::new(cause));
        }
        let snoozes = H::Output::SNOOZES && policy.retries;
        let keep = meta.attempt < plan.attempts || policy.keeps_dead || snoozes;
        let ends = if H::TIMED { plan.ends() } else { None };
        let (mut kept, mut chosen) = (None, None);
        // Everything of the user's runs in here: clone or codec, handler, first poll.
        let polled = catch_unwind(AssertUnwindSafe(|| -> Polled<H::Output> {
            let (job, back) = payload.take(keep);
            kept = back;
            let job = match job {
                Ok(job) => job,
                Err(why) => return Poll::Ready(Err(undecodable(why))),
            };
            let at = At {
                meta: &meta,
                attempts: plan.attempts,
                fence: receipt.fence(),
                times_out_at: ends,
                deadline: plan.deadline,
                slot: self.slot,
                state: self.state,
                policy,
                age: &|| self.shared.worker().clock().age(meta.enqueued),
                chosen: &mut chosen,
            };
            if !H::CHOOSES {
                at.count();
            }
            match self.handler.call(job, at) {
                Ok(future) => running.set(Some(future)),
                Err(cause) => return Poll::Ready(Err(cause)),
            }
            poll_running(running.as_mut(), cx).map(Ok)
        }));
        let unsettled = Unsettled { meta, payload: kept, receipt };
        let (plan, ends) = match &chosen {
            Some(Chosen { plan, ends }) if H::CHOOSES => (plan, *ends),
            _ => (plan, ends),
        };
        match polled {
            Ok(Poll::Ready(Ok(output))) => self.finish::<OBSERVED>(unsettled, plan, output, running),
            Ok(Poll::Pending) => self.suspend(unsettled, *plan, ends, running, cx),
            Ok(Poll::Ready(Err(cause))) => self.reject(unsettled, cause),
            Err(panic) => self.end::<H::Output>(unsettled, plan, End::panic(panic), running),
        }
    }

    /// The job is dead before it started.
    #[cold]
    #[inline(never)]
    fn reject(&mut self, unsettled: UnsettledOf<W>, cause: Box<Cause>) -> Flow<W> {
        self.observed = None;
        let Meta { id, attempt, .. } = unsettled.meta;
        log!(warn, job = %id, attempt, reason = %cause.reason, error = %cause.error, "The job is dead; it was not started.");
        self.settle(unsettled, Verdict::Dead { cause })
    }

    /// The handler returned.
    #[inline(always)]
    fn finish<const OBSERVED: bool>(
        &mut self,
        unsettled: UnsettledOf<W>,
        plan: &Plan,
        output: H::Output,
        mut running: Pin<&mut Option<H::Future>>,
    ) -> Flow<W> {
        if output.judge() != Judgement::Done {
            return self.end(unsettled, plan, End::Returned(output), running);
        }
        self.slot.counters.ok.add(1);
        if OBSERVED && let Some(observed) = &mut self.observed {
            observed.end(AttemptEnd::Ok);
        }
        if !W::ACK_BY_DROP {
            drop_guarded(|| running.set(None));
            return self.settle(unsettled, Verdict::Ack);
        }
        // What the future still captures, and the copy that was kept, are dropped here: both are user code.
        let Unsettled { meta, payload, receipt } = unsettled;
        drop_guarded(|| running.set(None));
        // Guarded for itself: two drops that panic at once would end the process.
        drop_guarded(|| drop((payload, receipt)));
        if let Some(extra) = meta.extra {
            drop_extra(extra);
        }
        if OBSERVED {
            self.completed(Fate::Done);
        }
        Flow::Next
    }

    /// The handler waits: the rest of the batch goes back, the watchdog is told, the slot sleeps.
    #[cold]
    #[inline(never)]
    fn suspend(
        &mut self,
        unsettled: UnsettledOf<W>,
        plan: Plan,
        ends: Option<Instant>,
        running: Pin<&mut Option<H::Future>>,
        cx: &mut Context<'_>,
    ) -> Flow<W> {
        self.suspended = true;
        self.unfinished = true;
        self.give_back();
        // A plain handler's clock starts when it first waits: until then nothing could have stopped it.
        let ends = ends.or_else(|| Instant::now().checked_add(plan.timeout?));
        let times_out = ends.map(|ends| self.shared.watchdog.nanos(ends).max(1));
        if let Some(times_out) = times_out {
            self.slot.arm(times_out);
            self.shared.watchdog.armed(times_out);
        }
        self.watch(Suspended { unsettled, plan, times_out, stuck: false }, running, cx)
    }

    /// Hands what has not started back to a worker that takes it at once. A worker that was asked for many hears of it
    /// even where nothing is left: it may have kept enqueuers waiting for jobs that were to be quick.
    pub(super) fn give_back(&mut self) {
        if std::mem::replace(&mut self.asked, 1) > 1 || !self.held.is_empty() {
            let before = self.held.len() as u64;
            self.shared.worker().give_back(&mut self.held);
            let taken = before - self.held.len() as u64;
            self.slot.counters.received.add(taken.wrapping_neg());
        }
    }

    /// A later poll of an attempt.
    fn resume(&mut self, mut running: Pin<&mut Option<H::Future>>, cx: &mut Context<'_>) -> Flow<W> {
        let span = self.observed.as_ref().map(|observed| observed.span.clone());
        let _inside = span.as_ref().map(JobSpan::enter);
        let polled = catch_unwind(AssertUnwindSafe(|| poll_running(running.as_mut(), cx)));
        let Some(current) = self.current.take() else { return self.resume_overdue(polled, running) };
        match polled {
            Ok(Poll::Pending) => self.watch(current, running, cx),
            Ok(Poll::Ready(output)) => {
                self.slot.disarm();
                self.finish::<true>(current.unsettled, &current.plan, output, running)
            }
            Err(panic) => {
                self.slot.disarm();
                self.end::<H::Output>(current.unsettled, &current.plan, End::panic(panic), running)
            }
        }
    }

    /// The handler still waits: shall it?
    fn watch(&mut self, current: Suspended<W>, running: Pin<&mut Option<H::Future>>, cx: &mut Context<'_>) -> Flow<W> {
        let lost = current.unsettled.receipt.ownership().map(|ownership| ownership.poll_lost(cx));
        let why = if let Some(Poll::Ready(loss)) = lost {
            Some(CancelReason::LostOwnership(loss))
        } else if current.times_out.is_some_and(|times_out| self.slot.is_expired(times_out)) {
            Some(CancelReason::Timeout)
        } else {
            self.follow_suspended().then_some(CancelReason::Shutdown)
        };
        match why {
            Some(why) if !current.stuck => self.stop(current, why, running, cx),
            None | Some(_) => {
                self.current = Some(current);
                self.sleep()
            }
        }
    }

    /// The slot sleeps while its handler waits. A shutdown first takes what the handler keeps from others.
    fn sleep(&self) -> Flow<W> {
        if self.held.is_empty() || self.shared.control.phase() < Phase::Stopping {
            return Flow::Pending;
        }
        Flow::Step(Step::HandBack)
    }

    /// Follows what the slots were told while a handler runs. True if it shall be cancelled.
    fn follow_suspended(&mut self) -> bool {
        self.shared.starts_nothing(self.slot);
        self.shared.control.phase() >= Phase::Cancelling
    }

    /// Cancels the running handler: the signal, one more poll, the drop.
    #[cold]
    fn stop(
        &mut self,
        current: Suspended<W>,
        why: CancelReason,
        mut running: Pin<&mut Option<H::Future>>,
        cx: &mut Context<'_>,
    ) -> Flow<W> {
        self.slot.cancel.cancel(self.slot.number(), why);
        let last = catch_unwind(AssertUnwindSafe(|| poll_running(running.as_mut(), cx)));
        let Suspended { unsettled, plan, .. } = current;
        match last {
            Ok(Poll::Ready(output)) if output.judge() == Judgement::Done => {
                self.slot.disarm();
                return self.finish::<true>(unsettled, &plan, output, running);
            }
            Ok(Poll::Pending) if running.as_ref().as_pin_ref().is_some_and(|run| H::is_stubborn(&run)) => {
                if why == CancelReason::Shutdown {
                    // It may still end well; until then the report calls it abandoned.
                    self.slot.counters.set_stuck(true);
                    self.shared.slots_changed.notify_waiters();
                    self.current = Some(Suspended { unsettled, plan, times_out: None, stuck: true });
                    return self.sleep();
                }
                self.overdue = true;
                self.slot.counters.set_overdue(true);
            }
            Ok(Poll::Ready(output)) => drop_guarded(|| drop(output)),
            Ok(Poll::Pending) => {}
            Err(panic) => End::<H::Output>::panic(panic).note(&unsettled.meta),
        }
        self.slot.disarm();
        self.end::<H::Output>(unsettled, &plan, End::Stopped(why), running)
    }

    /// A handler that could not be stopped has been polled.
    #[cold]
    fn resume_overdue(
        &mut self,
        polled: std::thread::Result<Poll<H::Output>>,
        mut running: Pin<&mut Option<H::Future>>,
    ) -> Flow<W> {
        if let Ok(Poll::Pending) = polled {
            if self.follow_suspended() {
                self.slot.counters.set_stuck(true);
                self.shared.slots_changed.notify_waiters();
            }
            return self.sleep();
        }
        self.overdue = false;
        self.slot.counters.late.add(1);
        self.slot.counters.set_overdue(false);
        log!(
            warn,
            panicked = polled.is_err(),
            "A blocking handler returned after its attempt had ended; its result changes nothing."
        );
        drop_guarded(|| {
            running.set(None);
            drop(polled);
        });
        Flow::Next
    }

    /// Whether a handler runs on after its attempt was settled.
    pub(super) const fn is_overdue(&self) -> bool {
        self.overdue
    }

    /// Tells the worker at once where it needs no I/O.
    #[inline]
    pub(super) fn settle(&mut self, unsettled: UnsettledOf<W>, verdict: Verdict) -> Flow<W> {
        let kind = super::settle::Kind::of(&verdict);
        let mut settling = Settling::new(unsettled, verdict);
        // A job that ends here may be dropped here.
        drop_guarded(|| {
            self.shared.worker().settle_now(std::slice::from_mut(&mut settling));
        });
        match settling.answered() {
            Some(settled) => {
                let fate = kind.count(&self.slot.counters, settled);
                self.completed(fate);
                Flow::Next
            }
            None => Flow::Step(Step::Settle(settling)),
        }
    }
}

#[inline]
fn poll_running<F: Future>(running: Pin<&mut Option<F>>, cx: &mut Context<'_>) -> Poll<F::Output> {
    match running.as_pin_mut() {
        Some(future) => future.poll(cx),
        // Only called while a handler runs.
        None => Poll::Pending,
    }
}

/// Drops what is the user's. A panic in it changes no outcome, but somebody should know.
#[inline]
pub(super) fn drop_guarded(drop: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(drop)) {
        note_panicking_drop(panic);
    }
}

/// Out of the way of the jobs that have none.
#[cold]
#[inline(never)]
fn drop_extra(extra: Box<queue_core::Extra>) {
    drop(extra);
}

#[cold]
fn note_panicking_drop(panic: Box<dyn std::any::Any + Send>) {
    let place = crate::panic::take_location();
    let place = place.as_ref().map(tracing::field::display);
    let message = crate::panic::message(panic);
    log!(error, panic = %message, at = place, "A drop in a handler panicked.");
}

#[cold]
fn undecodable(why: Undecodable) -> Box<Cause> {
    Box::new(Cause { reason: Reason::Undecodable, error: why.0 })
}

pub(super) fn dead(cause: Cause) -> Verdict {
    Verdict::Dead { cause: Box::new(cause) }
}
