//! How long to wait between two attempts.

use std::time::Duration;

/// Why a [`Backoff`] is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidBackoff {
    /// The factor would shrink the wait, or is not a number.
    #[error("backoff factor {0} is not a finite number of 1 or more")]
    Factor(f64),
    /// The first wait is longer than the longest.
    #[error("backoff base {base:?} is above its maximum {max:?}")]
    BaseAboveMax {
        /// The first wait.
        base: Duration,
        /// The longest wait.
        max: Duration,
    },
}

/// The wait before retry number n: plain values, so that they can travel with a job.
///
/// Exponential, from 100 ms by a factor of 2 to at most 10 s, with full jitter: unless another is named.
/// Full jitter draws each wait evenly between zero and the computed one, which spreads a burst of failures best
/// (AWS Architecture Blog, "Exponential Backoff And Jitter").
///
/// ```
/// use queue_core::Backoff;
/// use std::time::Duration;
/// let exact = Backoff::exponential().without_jitter();
/// assert_eq!(exact.wait(1), Duration::from_millis(100));
/// assert_eq!(exact.wait(3), Duration::from_millis(400));
/// assert_eq!(exact.wait(1_000), Duration::from_secs(10));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct Backoff {
    base: Duration,
    factor: f64,
    max: Duration,
    jitter: bool,
}

impl Backoff {
    /// Exponential: 100 ms, factor 2, at most 10 s, full jitter.
    pub const fn exponential() -> Self {
        Self { base: Duration::from_millis(100), factor: 2.0, max: Duration::from_secs(10), jitter: true }
    }

    /// The same wait each time, without jitter.
    pub const fn fixed(wait: Duration) -> Self {
        Self { base: wait, factor: 1.0, max: wait, jitter: false }
    }

    /// The wait before the first retry. Zero retries at once.
    pub const fn base(mut self, base: Duration) -> Self {
        self.base = base;
        self
    }

    /// What each further wait is multiplied by: finite, 1 or more.
    pub const fn factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// The longest wait, not below the base.
    pub const fn max(mut self, max: Duration) -> Self {
        self.max = max;
        self
    }

    /// Waits exactly as computed: many jobs that fail together will come back together.
    pub const fn without_jitter(mut self) -> Self {
        self.jitter = false;
        self
    }

    /// Whether the values make sense.
    ///
    /// # Errors
    /// A factor below 1 or not finite, or a base above the maximum.
    pub fn validate(&self) -> Result<(), InvalidBackoff> {
        if !self.factor.is_finite() || self.factor < 1.0 {
            return Err(InvalidBackoff::Factor(self.factor));
        }
        if self.base > self.max {
            return Err(InvalidBackoff::BaseAboveMax { base: self.base, max: self.max });
        }
        Ok(())
    }

    /// The wait before retry `n`, 1 for the first. No `n` overflows.
    #[must_use]
    pub fn wait(&self, n: u32) -> Duration {
        let exponent = i32::try_from(n.saturating_sub(1)).unwrap_or(i32::MAX);
        // Finite, so that no wait stays no wait.
        let growth = self.factor.powi(exponent).min(f64::MAX);
        let wanted = self.base.as_secs_f64() * growth;
        // An infinite product, and one that rounds above the maximum, end here.
        let wait = if wanted < self.max.as_secs_f64() { Duration::from_secs_f64(wanted) } else { self.max };
        if self.jitter { wait.mul_f64(fastrand::f64()) } else { wait }
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::exponential()
    }
}
