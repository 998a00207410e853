//! Where job ids come from.

use std::hash::{BuildHasher, RandomState};

use crate::JobId;

/// A source of [`JobId`]s: a random start, then a counter.
///
/// Two sources of 1,000,000 ids each meet with a probability of about 10⁻¹³.
/// It is not synchronised: keep it under the lock that orders the jobs.
///
/// ```
/// let mut ids = queue_core::IdSource::new();
/// assert_ne!(ids.take(), ids.take());
/// ```
#[derive(Debug)]
pub struct IdSource {
    next: u64,
    first: u64,
}

impl IdSource {
    /// A source that starts at a random number.
    #[must_use]
    pub fn new() -> Self {
        // The standard library seeds each `RandomState` from the system's random source, once a thread, and counts from there.
        let first = RandomState::new().hash_one(std::process::id());
        Self { next: first, first }
    }

    /// The next id.
    #[inline]
    pub fn take(&mut self) -> JobId {
        let id = self.next;
        self.next = id.wrapping_add(1);
        JobId::from(id)
    }

    /// How many ids were taken.
    #[inline]
    #[must_use]
    pub const fn taken(&self) -> u64 {
        self.next.wrapping_sub(self.first)
    }
}

impl Default for IdSource {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn two_sources_never_give_an_id_twice() {
        let mut sources = [IdSource::new(), IdSource::default()];
        let mut seen = HashSet::with_capacity(1_000_000);
        for _ in 0..500_000 {
            for source in &mut sources {
                assert!(seen.insert(source.take()));
            }
        }
        assert_eq!(sources.map(|source| source.taken()), [500_000, 500_000]);
    }

    #[test]
    fn sources_of_two_threads_start_apart() {
        let other = std::thread::spawn(|| IdSource::new().take()).join().unwrap();
        // Not even near: the next million of one must not reach the other.
        assert!(IdSource::new().take().get().abs_diff(other.get()) > 1_000_000);
    }

    #[test]
    fn the_count_survives_the_wrap() {
        let mut ids = IdSource { next: u64::MAX, first: u64::MAX };
        assert_eq!([ids.take(), ids.take()], [JobId::from(u64::MAX), JobId::from(0)]);
        assert_eq!(ids.taken(), 2);
    }
}
