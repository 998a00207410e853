//! What could start now: one FIFO for jobs without a priority, one for each level above.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, VecDeque};

use queue_core::{Delivery, JobId};

use crate::fifo::{Fifo, MIN_CELLS};

/// Which was enqueued first: ids of one ring count up, and may wrap.
pub(crate) fn order(a: JobId, b: JobId) -> Ordering {
    (a.get().wrapping_sub(b.get()) as i64).cmp(&0)
}

/// One level, with the jobs that were handed back at its head.
#[derive(Debug)]
struct Level<P> {
    fifo: Fifo<Delivery<P, ()>>,
    /// How many at the head were handed back and not taken since. They stand in the order of their ids.
    returned: usize,
}

impl<P> Level<P> {
    const fn new(fifo: Fifo<Delivery<P, ()>>) -> Self {
        Self { fifo, returned: 0 }
    }

    /// Among those that were handed back before, in the old order.
    fn hand_back(&mut self, delivery: Delivery<P, ()>) {
        let index = self
            .fifo
            .iter()
            .take(self.returned)
            .take_while(|other| order(other.meta.id, delivery.meta.id).is_lt())
            .count();
        self.fifo.insert(index, delivery);
        self.returned += 1;
    }

    #[inline]
    fn take(&mut self, max: usize, into: &mut VecDeque<Delivery<P, ()>>) {
        self.fifo.take(max, into);
        self.returned = self.returned.saturating_sub(max);
    }

    fn cancel(&mut self, id: JobId) -> Option<Delivery<P, ()>> {
        let index = self.fifo.iter().position(|delivery| delivery.meta.id == id)?;
        if index < self.returned {
            self.returned -= 1;
        }
        self.fifo.remove(index)
    }
}

/// Jobs that could start now: higher priority first, first in first out inside a level.
#[derive(Debug)]
pub(crate) struct Ready<P> {
    /// Priority 0, where nearly all jobs are.
    normal: Level<P>,
    urgent: BTreeMap<Reverse<u8>, Level<P>>,
    urgent_len: usize,
}

impl<P> Ready<P> {
    pub(crate) fn new(cells: VecDeque<Delivery<P, ()>>) -> Self {
        Self { normal: Level::new(Fifo::new(cells)), urgent: BTreeMap::new(), urgent_len: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.normal.fifo.len() + self.urgent_len
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.normal.fifo.is_empty() && self.urgent_len == 0
    }

    /// Keeps room for so many jobs of priority 0.
    pub(crate) fn set_floor(&mut self, floor: usize) {
        self.normal.fifo.set_floor(floor);
    }

    /// The size of the backing array of priority 0.
    pub(crate) fn cells(&self) -> usize {
        self.normal.fifo.cells()
    }

    /// A job without options.
    #[inline]
    pub(crate) fn push_plain(&mut self, delivery: Delivery<P, ()>) {
        self.normal.fifo.push_back(delivery);
    }

    /// Behind the jobs of its priority.
    pub(crate) fn push(&mut self, delivery: Delivery<P, ()>) {
        self.level(&delivery).fifo.push_back(delivery);
    }

    /// Before the jobs of its priority.
    pub(crate) fn hand_back(&mut self, delivery: Delivery<P, ()>) {
        self.level(&delivery).hand_back(delivery);
    }

    /// The level of one more job.
    fn level(&mut self, delivery: &Delivery<P, ()>) -> &mut Level<P> {
        match delivery.meta.extra.as_ref().map_or(0, |extra| extra.priority) {
            0 => &mut self.normal,
            priority => {
                self.urgent_len += 1;
                let new = || Level::new(Fifo::new(VecDeque::with_capacity(MIN_CELLS)));
                self.urgent.entry(Reverse(priority)).or_insert_with(new)
            }
        }
    }

    /// Moves up to `max` to the end of `into`, the first to start first.
    #[inline]
    pub(crate) fn take(&mut self, max: usize, into: &mut VecDeque<Delivery<P, ()>>) {
        if self.urgent_len == 0 {
            self.normal.take(max, into);
        } else {
            self.take_urgent(max, into);
        }
    }

    #[cold]
    fn take_urgent(&mut self, max: usize, into: &mut VecDeque<Delivery<P, ()>>) {
        let mut left = max.min(self.len());
        while let Some(mut level) = self.urgent.first_entry().filter(|_| left > 0) {
            let count = left.min(level.get().fifo.len());
            level.get_mut().take(count, into);
            self.urgent_len -= count;
            left -= count;
            if level.get().fifo.is_empty() {
                level.remove();
            }
        }
        self.normal.take(left, into);
    }

    pub(crate) fn cancel(&mut self, id: JobId) -> Option<Delivery<P, ()>> {
        let found = self.urgent.iter_mut().find_map(|(priority, level)| Some((*priority, level.cancel(id)?)));
        let Some((priority, delivery)) = found else { return self.normal.cancel(id) };
        self.urgent_len -= 1;
        if self.urgent.get(&priority).is_some_and(|level| level.fifo.is_empty()) {
            self.urgent.remove(&priority);
        }
        Some(delivery)
    }

    /// The job that would start next, of each level.
    pub(crate) fn heads(&self) -> impl Iterator<Item = &Delivery<P, ()>> {
        self.urgent.values().chain([&self.normal]).filter_map(|level| level.fifo.iter().next())
    }
}
