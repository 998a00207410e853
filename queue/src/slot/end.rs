//! What becomes of an attempt that did not simply end well.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::time::Duration;

use queue_core::{Cause, Meta, Reason, UnsettledOf, Verdict, Worker};
use tokio::time::Instant;

use super::drive::{Drive, Flow, Step, dead, drop_guarded};
use crate::completion::{AttemptEnd, Fate};
use crate::handler::{CancelReason, HandlerResult, Judgement, Runs, error_chain};
use crate::log::{listens, log};
use crate::panic::{self, Location};
use crate::policy::Plan;

/// How an attempt ended.
pub(super) enum End<O> {
    Returned(O),
    Panicked(Box<str>, Option<Location>),
    Stopped(CancelReason),
}

impl<O> End<O> {
    /// Called on the thread of the panic.
    pub(super) fn panic(payload: Box<dyn Any + Send>) -> Self {
        Self::Panicked(panic::message(payload), panic::take_location())
    }

    /// Tells of a panic.
    pub(super) fn note(&self, meta: &Meta) {
        if let Self::Panicked(message, place) = self {
            let place = place.as_ref().map(tracing::field::display);
            log!(error, job = %meta.id, attempt = meta.attempt, panic = %message, at = place, "The handler panicked.");
        }
    }
}

impl<O: HandlerResult> End<O> {
    fn kind(&self) -> AttemptEnd {
        match self {
            Self::Returned(output) => match output.judge() {
                Judgement::Done => AttemptEnd::Ok,
                Judgement::Failed { .. } | Judgement::RetryAfter(_) => AttemptEnd::Failed,
                Judgement::Snooze(_) => AttemptEnd::Cancelled,
            },
            Self::Panicked(..) => AttemptEnd::Panicked,
            Self::Stopped(CancelReason::Timeout) => AttemptEnd::TimedOut,
            Self::Stopped(CancelReason::Shutdown | CancelReason::LostOwnership(_)) => AttemptEnd::Cancelled,
        }
    }
}

/// What the policy is asked about: a failure, and what it wants.
struct Failure {
    reason: Reason,
    /// No further attempt can help.
    last: bool,
    /// When to try again, where the handler said so.
    after: Option<Duration>,
}

impl<W, H, M, S> Drive<'_, W, H, M, S>
where
    W: Worker,
    H: Runs<M, W::Job, S>,
{
    /// Counts the end, and finds the verdict. The future is dropped, unless it cannot be stopped.
    #[cold]
    #[inline(never)]
    pub(super) fn end<O: HandlerResult>(
        &mut self,
        unsettled: UnsettledOf<W>,
        plan: &Plan,
        end: End<O>,
        mut running: Pin<&mut Option<H::Future>>,
    ) -> Flow<W> {
        if !self.is_overdue() {
            drop_guarded(|| running.set(None));
        }
        end.note(&unsettled.meta);
        if let Some(observed) = &mut self.observed {
            observed.end(end.kind());
        }
        let counters = &self.slot.counters;
        match end {
            End::Returned(output) => match output.judge() {
                Judgement::Snooze(after) => {
                    counters.cancelled.add(1);
                    if self.shared.policy.retries {
                        return self.settle(unsettled, Verdict::Return { after });
                    }
                    let failure = Failure { reason: Reason::Permanent, last: true, after: None };
                    self.fail(unsettled, plan, &failure, || {
                        "a snooze: this worker keeps no copy of a job that has started".into()
                    })
                }
                Judgement::RetryAfter(after) => {
                    counters.failed.add(1);
                    let failure = Failure { reason: Reason::AttemptsExhausted, last: false, after: Some(after) };
                    self.fail(unsettled, plan, &failure, || "the handler asked for a retry".into())
                }
                Judgement::Failed { permanent } => {
                    counters.failed.add(1);
                    let reason = if permanent { Reason::Permanent } else { Reason::AttemptsExhausted };
                    let failure = Failure { reason, last: permanent, after: None };
                    self.fail(unsettled, plan, &failure, || describe(output))
                }
                // Only what did not end well comes here.
                Judgement::Done => self.settle(unsettled, Verdict::Ack),
            },
            End::Panicked(message, _) => {
                counters.panicked.add(1);
                let last = !plan.after_panic;
                let reason = if last { Reason::Panicked } else { Reason::AttemptsExhausted };
                self.fail(unsettled, plan, &Failure { reason, last, after: None }, || {
                    format!("panicked: {message}").into()
                })
            }
            End::Stopped(CancelReason::Timeout) => {
                counters.timed_out.add(1);
                let failure = Failure { reason: Reason::AttemptsExhausted, last: false, after: None };
                self.fail(unsettled, plan, &failure, || "timeout".into())
            }
            End::Stopped(CancelReason::Shutdown) => {
                counters.cancelled.add(1);
                self.settle(unsettled, Verdict::Return { after: Duration::ZERO })
            }
            End::Stopped(CancelReason::LostOwnership(loss)) => {
                counters.cancelled.add(1);
                counters.lost.add(1);
                log!(warn, job = %unsettled.meta.id, ?loss, "The job was taken over by somebody else; its handler was cancelled.");
                drop_guarded(|| drop(unsettled));
                self.completed(Fate::Lost);
                Flow::Next
            }
        }
    }

    /// A failed attempt: another one, or the end. The error is put into words only where somebody reads them.
    fn fail(
        &mut self,
        unsettled: UnsettledOf<W>,
        plan: &Plan,
        failure: &Failure,
        error: impl FnOnce() -> Box<str>,
    ) -> Flow<W> {
        let attempt = unsettled.meta.attempt;
        let mut reason = failure.reason;
        if !failure.last && attempt < plan.attempts {
            let after = failure.after.unwrap_or_else(|| plan.wait(attempt));
            let in_time = plan
                .deadline
                .is_none_or(|deadline| Instant::now().checked_add(after).is_some_and(|next| next <= deadline));
            if in_time {
                if self.observed.is_some() || listens!(enabled, INFO) {
                    let text = error();
                    self.describe(&text);
                    log!(info, job = %unsettled.meta.id, attempt, retry_in = ?after, error = %text, "The attempt failed; the job is tried again.");
                } else {
                    drop_guarded(|| drop(error));
                }
                return self.again(unsettled, plan, after);
            }
            reason = Reason::Deadline;
        }
        // A worker without dead letters has nobody to tell.
        let read = self.shared.policy.keeps_dead || self.observed.is_some() || listens!(enabled, WARN);
        let text = if read {
            error()
        } else {
            drop_guarded(|| drop(error));
            Box::default()
        };
        self.describe(&text);
        let cause = Cause { reason, error: text };
        log!(warn, job = %unsettled.meta.id, attempt, reason = %cause.reason, error = %cause.error, "The job is dead.");
        self.settle(unsettled, dead(cause))
    }

    /// Tells whoever wants to hear of the attempt what went wrong.
    fn describe(&mut self, error: &str) {
        if let Some(observed) = &mut self.observed {
            observed.set_error(error);
        }
    }

    fn again(&mut self, unsettled: UnsettledOf<W>, plan: &Plan, after: Duration) -> Flow<W> {
        // A handler that could not be stopped still has the slot: the job waits at the worker.
        if plan.inline && !self.is_overdue() {
            self.completed(Fate::Retried);
            Flow::Step(Step::Wait(unsettled, after))
        } else {
            self.settle(unsettled, Verdict::Retry { after })
        }
    }
}

/// The error in words. Its text and its drop are user code.
fn describe(output: impl HandlerResult) -> Box<str> {
    let text = catch_unwind(AssertUnwindSafe(|| {
        let error = output.into_error()?;
        let text = error_chain(&*error);
        drop_guarded(|| drop(error));
        Some(text.into_boxed_str())
    }));
    text.map_or_else(
        |panic| format!("the error could not be put into words: panicked: {}", panic::message(panic)).into(),
        Option::unwrap_or_default,
    )
}
