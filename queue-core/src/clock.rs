//! A coarse clock: one relaxed load a job instead of a system call.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// A moment on a worker's [`Clock`]: milliseconds since just before the clock was made, wrapping after 49 days.
///
/// Only differences mean something, and only those below 49 days: a job that waits longer than that shows too young an age.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(u32);

impl Stamp {
    /// The raw milliseconds.
    #[must_use]
    pub const fn as_millis(self) -> u32 {
        self.0
    }
}

/// The coarse clock that a worker stamps its messages with.
///
/// While an engine is busy it [`tick`](Self::tick)s the clock every [`TICK`](Self::TICK), and a [`stamp`](Self::stamp) is one relaxed load.
/// While it is idle the clock is [`stop`](Self::stop)ped, and a stamp reads the exact time. Either way a stamp is never
/// later than the truth and at most one tick earlier (plus what the runtime holds a task back).
///
/// ```
/// use queue_core::Clock;
/// # use std::time::Duration;
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// let clock = Clock::new();
/// let stamp = clock.stamp();
/// tokio::time::advance(Duration::from_secs(3)).await;
/// assert_eq!(clock.age(stamp), Duration::from_secs(3));
/// # });
/// ```
#[derive(Debug)]
pub struct Clock {
    base: Instant,
    /// Milliseconds since `base`, and one more, so that a time is not 0 (but once in 49 days); 0 while nobody ticks.
    /// Relaxed: a stamp publishes nothing, and a stale one is within its promise.
    now: AtomicU32,
}

impl Clock {
    /// How often a busy engine ticks, and how much earlier than the truth a stamp may be: 5 ms.
    pub const TICK: Duration = Duration::from_millis(5);

    /// A stopped clock that starts now.
    #[must_use]
    pub fn new() -> Self {
        Self { base: Instant::now(), now: AtomicU32::new(0) }
    }

    /// The coarse time.
    #[inline]
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        match self.now.load(Ordering::Relaxed) {
            0 => self.exact(Instant::now()),
            now => Stamp(now),
        }
    }

    /// How long ago `stamp` was, by the exact time.
    #[must_use]
    pub fn age(&self, stamp: Stamp) -> Duration {
        Duration::from_millis(self.exact(Instant::now()).0.wrapping_sub(stamp.0).into())
    }

    /// When `stamp` was: the same answer whenever it is asked.
    #[must_use]
    pub fn instant(&self, stamp: Stamp) -> Instant {
        let now = Instant::now();
        let since = now.saturating_duration_since(self.base);
        let whole = now - Duration::from_nanos(u64::from(since.subsec_nanos() % 1_000_000));
        let age = Duration::from_millis(self.exact(whole).0.wrapping_sub(stamp.0).into());
        whole.checked_sub(age).unwrap_or(self.base)
    }

    /// A clock of the same stamps that nobody ticks: for whoever reads them without the worker at hand.
    #[must_use]
    pub fn reader(&self) -> Self {
        Self { base: self.base, now: AtomicU32::new(0) }
    }

    /// The stamp of a message that is `age` old, as a broker tells it.
    #[must_use]
    pub fn stamp_of_age(&self, age: Duration) -> Stamp {
        #[expect(clippy::cast_possible_truncation, reason = "stamps wrap by design")]
        Stamp(self.exact(Instant::now()).0.wrapping_sub(age.as_millis() as u32))
    }

    /// The engine's ticker: the exact time is `now`.
    pub fn tick(&self, now: Instant) {
        self.now.store(self.exact(now).0, Ordering::Relaxed);
    }

    /// Nobody ticks any more: stamps read the exact time again.
    pub fn stop(&self) {
        self.now.store(0, Ordering::Relaxed);
    }

    fn exact(&self, now: Instant) -> Stamp {
        #[expect(clippy::cast_possible_truncation, reason = "stamps wrap by design")]
        Stamp((now.saturating_duration_since(self.base).as_millis() as u32).wrapping_add(1))
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[tokio::test(start_paused = true)]
    async fn a_stopped_clock_reads_the_exact_time() {
        let clock = Clock::new();
        advance(3 * MS).await;
        assert_eq!(clock.stamp().as_millis(), 4);
        advance(Duration::from_micros(1_999)).await;
        assert_eq!(clock.stamp().as_millis(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn a_ticking_clock_stands_between_ticks_and_an_age_is_exact() {
        let clock = Clock::new();
        advance(10 * MS).await;
        clock.tick(Instant::now());
        advance(4 * MS).await;
        let stamp = clock.stamp();
        assert_eq!(stamp.as_millis(), 11);
        assert_eq!(clock.age(stamp), 4 * MS);
        clock.tick(Instant::now());
        assert_eq!(clock.stamp().as_millis(), 15);
        advance(MS).await;
        clock.stop();
        assert_eq!(clock.stamp().as_millis(), 16);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stamp_of_the_first_tick_is_not_from_the_future() {
        let clock = Clock::new();
        clock.tick(Instant::now());
        assert_eq!(clock.age(clock.stamp()), Duration::ZERO);
        advance(Clock::TICK).await;
        clock.tick(Instant::now());
        assert_eq!(clock.stamp().as_millis(), 6);
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_keeps_the_age_that_it_came_with() {
        let clock = Clock::new();
        // Older than the clock itself.
        let stamp = clock.stamp_of_age(Duration::from_secs(3_600));
        assert_eq!(clock.age(stamp), Duration::from_secs(3_600));
        advance(5 * MS).await;
        assert_eq!(clock.age(stamp), Duration::from_secs(3_600) + 5 * MS);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stamp_tells_its_instant_whenever_it_is_asked() {
        let start = Instant::now();
        let clock = Clock::new();
        advance(3 * MS).await;
        let (stamp, reader) = (clock.stamp(), clock.reader());
        clock.tick(Instant::now());
        advance(Duration::from_micros(7_700)).await;
        assert_eq!(clock.instant(stamp), start + 3 * MS);
        assert_eq!(reader.instant(stamp), start + 3 * MS);
        assert_eq!(clock.instant(clock.stamp_of_age(2 * MS)), start + 8 * MS);
    }

    #[tokio::test(start_paused = true)]
    async fn an_age_survives_the_wrap() {
        let clock = Clock::new();
        advance(Duration::from_millis(u64::from(u32::MAX) - 1)).await;
        let stamp = clock.stamp();
        advance(4 * MS).await;
        assert!(clock.stamp().as_millis() < stamp.as_millis());
        assert_eq!(clock.age(stamp), 4 * MS);
    }
}
