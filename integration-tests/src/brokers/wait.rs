//! Waiting with a deadline, and saying something out loud.

use std::io::Write as _;
use std::time::{Duration, Instant};

/// How long a look waits for the next one.
const PAUSE: Duration = Duration::from_millis(20);

/// A moment after which something is late. It is of the machine's clock: brokers know no paused one.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    begun: Instant,
    after: Duration,
}

impl Deadline {
    /// The moment `after` from now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a broker is a program of its own: no clock of a test reaches it")]
    pub fn after(after: Duration) -> Self {
        Self { begun: Instant::now(), after }
    }

    /// What is left, zero when it has passed.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.after.saturating_sub(self.begun.elapsed())
    }

    /// How long ago it was set.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Whether it has passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.left().is_zero()
    }

    /// Looks again and again, every 20 ms, until there is something or the deadline has passed. Looks at least once.
    pub fn until<T>(&self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        loop {
            if let Some(seen) = look() {
                return Some(seen);
            }
            if self.passed() {
                return None;
            }
            pause();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "on a thread of its own, or in a program that does nothing else")]
fn pause() {
    std::thread::sleep(PAUSE);
}

/// Writes a line to the standard error output, also from a test whose output is captured.
pub fn say(line: &str) {
    // A closed output is no reason to fail a test.
    drop(writeln!(std::io::stderr().lock(), "[brokers] {line}"));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Deadline;

    #[test]
    fn a_look_is_taken_at_least_once_and_not_after_the_deadline() {
        let deadline = Deadline::after(Duration::ZERO);
        let mut looks = 0;
        let seen: Option<()> = deadline.until(|| {
            looks += 1;
            None
        });
        assert_eq!((seen, looks), (None, 1));
        assert!(deadline.passed());
        assert_eq!(deadline.until(|| Some(7)), Some(7));
    }
}
