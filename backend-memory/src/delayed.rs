//! What waits for its time.

use std::collections::{BTreeMap, VecDeque};

use queue_core::{Delivery, JobId};
use tokio::time::Instant;

use crate::ready::Ready;

/// Delayed, retried and snoozed jobs, by due time, then in the order in which they came.
#[derive(Debug)]
pub(crate) struct Delayed<P> {
    jobs: BTreeMap<(Instant, u64), Delivery<P, ()>>,
    next: u64,
}

impl<P> Delayed<P> {
    pub(crate) const fn new() -> Self {
        Self { jobs: BTreeMap::new(), next: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    pub(crate) fn push(&mut self, due: Instant, delivery: Delivery<P, ()>) {
        self.jobs.insert((due, self.next), delivery);
        self.next += 1;
    }

    /// When the next job is due.
    #[inline]
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.jobs.first_key_value().map(|((due, _), _)| *due)
    }

    /// Moves what is due behind the jobs that could start before.
    pub(crate) fn move_due(&mut self, now: Instant, ready: &mut Ready<P>) {
        while let Some(first) = self.jobs.first_entry().filter(|first| first.key().0 <= now) {
            ready.push(first.remove());
        }
    }

    pub(crate) fn cancel(&mut self, id: JobId) -> Option<Delivery<P, ()>> {
        let key = self.jobs.iter().find(|(_, delivery)| delivery.meta.id == id).map(|(key, _)| *key)?;
        self.jobs.remove(&key)
    }

    /// Moves all to the end of `into`, the earliest first.
    pub(crate) fn drain(&mut self, into: &mut VecDeque<Delivery<P, ()>>) {
        into.extend(std::mem::take(&mut self.jobs).into_values());
    }
}
