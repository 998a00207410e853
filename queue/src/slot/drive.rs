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

use super::Slot;
use super::end::End;
use super::suspended::Suspended;
use crate::completion::{AttemptEnd, Fate, Observed};
use crate::engine::Shared;
use crate::handler::{At, Chosen, HandlerResult, Judgement, Runs};
use crate::log::log;
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
    /// Too many calls of the hook wait: no attempt starts for now.
    HooksFull,
    /// Nothing starts any more: what is held goes back, though a handler still runs.
    HandBack,
}

/// How the path goes on.
pub(super) enum Flow<W: Worker> {
    Next,
    Pending,
    Step(Step<W>),
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
    pub(super) unfinished: bool,
    pub(super) current: Option<Suspended<W>>,
    /// The running handler's attempt was settled; it cannot be stopped, and its result changes nothing.
    pub(super) overdue: bool,
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
            } else if OBSERVED && self.shared.hooks_are_full() && !self.held.is_empty() {
                return Poll::Ready(Step::HooksFull);
            } else if let Some(delivery) = self.held.pop_front() {
                delivery
            } else {
                return Poll::Ready(Step::Empty);
            };
            let flow = if OBSERVED {
                self.start_observed(delivery, running.as_mut(), cx)
            } else {
                self.start::<false>(delivery, running.as_mut(), cx)
            };
            match flow {
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

    /// Starts an attempt that somebody wants to hear of, inside its span.
    fn start_observed(
        &mut self,
        delivery: DeliveryOf<W>,
        running: Pin<&mut Option<H::Future>>,
        cx: &mut Context<'_>,
    ) -> Flow<W> {
        let span = self.observed.insert(self.shared.observe(&delivery.meta)).span.clone();
        let _inside = span.enter();
        self.start::<true>(delivery, running, cx)
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
    pub(super) fn finish<const OBSERVED: bool>(
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
pub(super) fn poll_running<F: Future>(running: Pin<&mut Option<F>>, cx: &mut Context<'_>) -> Poll<F::Output> {
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
