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

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(backoff: Backoff, n: u32) -> f64 {
        backoff.wait(n).as_secs_f64() * 1_000.0
    }

    #[test]
    fn the_waits_double_up_to_the_maximum() {
        let exact = Backoff::default().without_jitter();
        let waits: Vec<_> = (1..=9).map(|n| exact.wait(n).as_millis()).collect();
        assert_eq!(waits, [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
    }

    #[test]
    fn no_attempt_overflows() {
        for exact in [Backoff::exponential(), Backoff::exponential().factor(f64::MAX), Backoff::fixed(Duration::MAX)] {
            let exact = exact.without_jitter();
            for n in [1_000, u32::MAX] {
                assert_eq!(exact.wait(n), exact.max, "{exact:?} {n}");
            }
            assert_eq!(exact.wait(0), exact.wait(1));
        }
        let jittered = Backoff::fixed(Duration::MAX);
        assert!(Backoff { jitter: true, ..jittered }.wait(u32::MAX) <= Duration::MAX);
    }

    #[test]
    fn full_jitter_draws_evenly_from_zero_to_the_wait() {
        let waits: Vec<f64> = (0..1_000).map(|_| millis(Backoff::exponential(), 1)).collect();
        assert!(waits.iter().all(|wait| (0.0..=100.0).contains(wait)));
        // The mean of 1,000 even draws has a deviation of 0.9 ms: ten of them are never passed by chance.
        let mean = waits.iter().sum::<f64>() / 1_000.0;
        assert!((40.0..60.0).contains(&mean), "{mean}");
        assert!(waits.iter().any(|wait| *wait < 20.0) && waits.iter().any(|wait| *wait > 80.0));
    }

    #[test]
    fn a_fixed_wait_stays() {
        let fixed = Backoff::fixed(Duration::from_secs(3));
        assert!([1, 2, 50].into_iter().all(|n| fixed.wait(n) == Duration::from_secs(3)));
        assert_eq!(Backoff::fixed(Duration::ZERO).wait(7), Duration::ZERO);
    }

    #[test]
    fn senseless_values_are_refused_by_name() {
        assert_eq!(Backoff::exponential().validate(), Ok(()));
        assert_eq!(Backoff::exponential().factor(1.0).validate(), Ok(()));
        for factor in [0.0, -2.0, 0.999, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Backoff::exponential().factor(factor).validate(), Err(InvalidBackoff::Factor(factor)));
        }
        assert!(matches!(
            Backoff::exponential().factor(f64::NAN).validate(),
            Err(InvalidBackoff::Factor(factor)) if factor.is_nan()
        ));
        let (base, max) = (Duration::from_millis(2), Duration::from_millis(1));
        let refused = Backoff::exponential().base(base).max(max).validate();
        assert_eq!(refused, Err(InvalidBackoff::BaseAboveMax { base, max }));
        assert_eq!(Backoff::exponential().base(max).max(max).validate(), Ok(()));
    }
}
