//! What holds for a job: the queue's settings, and those that the job brought along.

use std::time::Duration;

use queue_core::{Backoff, Capabilities, Clock, Feature, Meta};
use tokio::time::Instant;

use crate::Retry;

/// The settings of a queue, resolved against what its worker can do.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts, each read in one place")]
pub(crate) struct Policy {
    /// The plan of a job without options on a queue without a deadline.
    pub(crate) plan: Plan,
    pub(crate) inline: bool,
    pub(crate) after_panic: bool,
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
        let attempts = if retries { retry.attempts() } else { 1 };
        Self {
            plan: Plan { attempts, timeout, deadline: None, backoff: retry.backoff },
            // Where the worker cannot delay a job, it waits here.
            inline: retry.inline || !can.has(Feature::Delays),
            after_panic: retry.after_panic,
            deadline,
            retries,
            keeps_dead: can.has(Feature::DeadLetters),
        }
    }

    /// Whether every job without options has the same plan, whatever the time.
    #[inline]
    pub(crate) const fn is_plain(&self) -> bool {
        self.deadline.is_none()
    }

    /// The plan of any job: its own options win.
    #[cold]
    pub(crate) fn plan_of(&self, meta: &Meta, clock: &Clock) -> Plan {
        let mut plan = self.plan;
        if let Some(within) = self.deadline {
            plan.deadline =
                Instant::now().checked_add(within).and_then(|end| end.checked_sub(clock.age(meta.enqueued)));
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
    /// The wait after the failed `attempt`.
    pub(crate) fn wait(&self, attempt: u32) -> Duration {
        self.backoff.wait(attempt)
    }
}
