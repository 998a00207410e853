//! What holds for a job: the queue's settings, and those that the job brought along.

use std::time::Duration;

use queue_core::{Backoff, Capabilities, Cause, Feature, Meta, Reason};
use tokio::time::Instant;

use crate::Retry;

/// The settings of a queue, resolved against what its worker can do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Policy {
    /// The plan of a job without options on a queue without a deadline.
    pub(crate) plan: Plan,
    deadline: Option<Duration>,
    /// The worker can hand a job out again.
    pub(crate) retries: bool,
    /// A dead letter wants the job.
    pub(crate) keeps_dead: bool,
}

/// What holds for one job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) attempts: u32,
    pub(crate) timeout: Option<Duration>,
    pub(crate) deadline: Option<Instant>,
    backoff: Backoff,
    /// It waits for its retries in its slot.
    pub(crate) inline: bool,
    /// It is tried again after a panic.
    pub(crate) after_panic: bool,
}

impl Policy {
    pub(crate) fn new(
        retry: Option<Retry>,
        timeout: Option<Duration>,
        deadline: Option<Duration>,
        can: &Capabilities,
    ) -> Self {
        let retries = can.has(Feature::Retries);
        let retry = retry.unwrap_or(if retries { Retry::DEFAULT } else { Retry::none() });
        Self { plan: Plan::new(retry, timeout, can), deadline, retries, keeps_dead: can.has(Feature::DeadLetters) }
    }

    /// The same, but for what is set here.
    pub(crate) fn with(
        &self,
        retry: Option<Retry>,
        timeout: Option<Duration>,
        deadline: Option<Duration>,
        can: &Capabilities,
    ) -> Self {
        let mut policy = *self;
        policy.plan.timeout = timeout.or(policy.plan.timeout);
        policy.deadline = deadline.or(policy.deadline);
        if let Some(retry) = retry {
            policy.plan = Plan::new(retry, policy.plan.timeout, can);
        }
        policy
    }

    /// Whether every job without options has the same plan, whatever the time.
    #[inline]
    pub(crate) const fn is_plain(&self) -> bool {
        self.deadline.is_none()
    }

    /// The plan of any job, `age` after its enqueue: its own options win.
    #[cold]
    pub(crate) fn plan_of(&self, meta: &Meta, age: impl FnOnce() -> Duration) -> Plan {
        let mut plan = self.plan;
        if let Some(within) = self.deadline {
            plan.deadline = Instant::now().checked_add(within).and_then(|end| end.checked_sub(age()));
        }
        let Some(extra) = &meta.extra else { return plan };
        if self.retries {
            plan.attempts = extra.retries.map_or(plan.attempts, |retries| retries.saturating_add(1));
        }
        plan.backoff = extra.backoff.unwrap_or(plan.backoff);
        plan.timeout = extra.timeout.or(plan.timeout);
        plan.deadline = extra.deadline.or(plan.deadline);
        plan
    }
}

impl Plan {
    fn new(retry: Retry, timeout: Option<Duration>, can: &Capabilities) -> Self {
        Self {
            attempts: if can.has(Feature::Retries) { retry.attempts() } else { 1 },
            timeout,
            deadline: None,
            backoff: retry.backoff,
            // Where the worker cannot delay a job, it waits here.
            inline: retry.inline || !can.has(Feature::Delays),
            after_panic: retry.after_panic,
        }
    }

    /// When an attempt that starts now times out.
    pub(crate) fn ends(&self) -> Option<Instant> {
        self.timeout.and_then(|limit| Instant::now().checked_add(limit))
    }

    /// Why the attempt must not start.
    #[cold]
    pub(crate) fn never_starts(&self, attempt: u32) -> Option<Cause> {
        if attempt > self.attempts {
            // The broker counted attempts that crashed their process.
            return Some(Cause { reason: Reason::AttemptsExhausted, error: Box::default() });
        }
        let passed = self.deadline.is_some_and(|deadline| deadline <= Instant::now());
        passed.then(|| Cause { reason: Reason::Deadline, error: Box::default() })
    }

    /// The wait after the failed `attempt`.
    pub(crate) fn wait(&self, attempt: u32) -> Duration {
        self.backoff.wait(attempt)
    }
}
