//! A handler that waits: what may end it, and how it is ended.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use queue_core::{Receipt, UnsettledOf, Worker};
use tokio::time::Instant;

use super::drive::{Drive, Flow, Step, drop_guarded, poll_running};
use super::end::End;
use crate::control::Phase;
use crate::handler::{CancelReason, HandlerResult, Judgement, Runs};
use crate::log::{JobSpan, log};
use crate::policy::Plan;

/// A job whose handler waits for something.
pub(super) struct Suspended<W: Worker> {
    pub(super) unsettled: UnsettledOf<W>,
    pub(super) plan: Plan,
    /// When it times out, in nanoseconds on the engine's clock.
    times_out: Option<u64>,
    /// It was told to stop, and cannot be stopped.
    stuck: bool,
}

impl<W, H, M, S> Drive<'_, W, H, M, S>
where
    W: Worker,
    H: Runs<M, W::Job, S>,
{
    /// The handler waits: the rest of the batch goes back, the watchdog is told, the slot sleeps.
    #[cold]
    #[inline(never)]
    pub(super) fn suspend(
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

    /// A later poll of an attempt.
    pub(super) fn resume(&mut self, mut running: Pin<&mut Option<H::Future>>, cx: &mut Context<'_>) -> Flow<W> {
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
}
