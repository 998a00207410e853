//! When a job that failed is tried again.

use std::time::Duration;

use queue_core::{Backoff, InvalidBackoff};

/// How a queue tries a failed job again: how often, after which waits, and where it waits.
///
/// By default a job is retried 5 times, with waits of 100 ms, 200 ms and so on up to 10 s, each drawn evenly between
/// zero and that (full jitter), and waits at the worker, so that its slot is free meanwhile.
///
/// ```
/// use queue::Retry;
/// use std::time::Duration;
/// let patient = Retry::exponential(10).base(Duration::from_secs(1)).max(Duration::from_secs(600));
/// let never = Retry::none();
/// # drop((patient, never));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct Retry {
    pub(crate) retries: u32,
    pub(crate) backoff: Backoff,
    pub(crate) inline: bool,
    pub(crate) after_panic: bool,
}

impl Retry {
    /// What a queue does where nothing is said: `exponential(5)`.
    pub(crate) const DEFAULT: Self = Self::exponential(5);

    /// One attempt. The ring then moves the job into its handler, where it keeps no dead letters and the handler does not
    /// answer [`Outcome`](crate::Outcome), which may be a snooze.
    pub const fn none() -> Self {
        Self::exponential(0)
    }

    /// Up to `retries` retries after the first attempt, with exponential waits: 100 ms, doubled up to 10 s, full jitter.
    pub const fn exponential(retries: u32) -> Self {
        Self { retries, backoff: Backoff::exponential(), inline: false, after_panic: true }
    }

    /// Up to `retries` retries after the first attempt, with the same wait before each, without jitter.
    pub const fn fixed(retries: u32, wait: Duration) -> Self {
        Self::with_backoff(retries, Backoff::fixed(wait))
    }

    /// Up to `retries` retries after the first attempt, with the waits of `backoff`.
    pub const fn with_backoff(retries: u32, backoff: Backoff) -> Self {
        Self { retries, backoff, inline: false, after_panic: true }
    }

    /// The wait before the first retry.
    pub const fn base(mut self, base: Duration) -> Self {
        self.backoff = self.backoff.base(base);
        self
    }

    /// What each further wait is multiplied by: finite, 1 or more.
    pub const fn factor(mut self, factor: f64) -> Self {
        self.backoff = self.backoff.factor(factor);
        self
    }

    /// The longest wait, not below the base.
    pub const fn max(mut self, max: Duration) -> Self {
        self.backoff = self.backoff.max(max);
        self
    }

    /// Waits exactly as computed.
    pub const fn without_jitter(mut self) -> Self {
        self.backoff = self.backoff.without_jitter();
        self
    }

    /// The job waits in its slot and keeps it: later jobs wait behind it.
    pub const fn inline(mut self) -> Self {
        self.inline = true;
        self
    }

    /// A job whose handler panics is dead at once: not tried again.
    pub const fn dead_on_panic(mut self) -> Self {
        self.after_panic = false;
        self
    }

    pub(crate) fn validate(&self) -> Result<(), InvalidBackoff> {
        self.backoff.validate()
    }

    /// How many attempts there may be.
    pub(crate) const fn attempts(&self) -> u32 {
        self.retries.saturating_add(1)
    }
}
