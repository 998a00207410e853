//! First in, first out, over a backing array that doubles when full and halves when a quarter is left.

use std::collections::VecDeque;

/// The smallest backing array.
pub(crate) const MIN_CELLS: usize = 2;

/// A `VecDeque` that decides itself when its array (its *cells*) grows and shrinks.
///
/// It doubles only when full and halves, after a pop, while at most a quarter is in use, never below the floor: between
/// the two lie at least a quarter of the array, so no backlog that swings by one can copy it again and again
/// (halving at a half does: golang-queue #179).
#[derive(Debug)]
pub(crate) struct Fifo<E> {
    cells: VecDeque<E>,
    floor: usize,
}

impl<E> Fifo<E> {
    pub(crate) fn new(cells: VecDeque<E>) -> Self {
        let floor = cells.capacity();
        Self { cells, floor }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Keeps room for so many from now on, allocated at once; where that is less than before, the next pops shrink to it.
    pub(crate) fn set_floor(&mut self, floor: usize) {
        self.floor = floor;
        self.cells.reserve_exact(floor.saturating_sub(self.cells.len()));
    }

    /// The size of the backing array.
    pub(crate) fn cells(&self) -> usize {
        self.cells.capacity()
    }

    #[inline]
    pub(crate) fn push_back(&mut self, entry: E) {
        if self.cells.len() == self.cells.capacity() {
            self.grow();
        }
        self.cells.push_back(entry);
    }

    /// At `index` from the head.
    pub(crate) fn insert(&mut self, index: usize, entry: E) {
        if self.cells.len() == self.cells.capacity() {
            self.grow();
        }
        self.cells.insert(index, entry);
    }

    /// Moves up to `max` from the head to the end of `into`: each job moves once, then the array shrinks once.
    #[inline]
    pub(crate) fn take(&mut self, max: usize, into: &mut VecDeque<E>) {
        let count = max.min(self.cells.len());
        if count == 1 {
            // What handlers that wait ask for: without what a batch sets up.
            if let Some(entry) = self.cells.pop_front() {
                into.push_back(entry);
            }
            return self.shrink();
        }
        // A range has an exact length, which `extend` trusts and so asks for room once; a drain has none that it trusts.
        into.extend((0..count).map(|_| {
            let Some(entry) = self.cells.pop_front() else { unreachable!("counted above") };
            entry
        }));
        self.shrink();
    }

    pub(crate) fn remove(&mut self, index: usize) -> Option<E> {
        let entry = self.cells.remove(index);
        self.shrink();
        entry
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &E> {
        self.cells.iter()
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.cells.reserve_exact(self.cells.capacity().max(MIN_CELLS / 2));
    }

    #[inline]
    fn shrink(&mut self) {
        if self.cells.len() <= self.cells.capacity() / 4 && self.cells.capacity() > self.floor {
            self.shrink_now();
        }
    }

    #[cold]
    #[inline(never)]
    fn shrink_now(&mut self) {
        let mut cells = self.cells.capacity();
        while self.cells.len() <= cells / 4 && cells > self.floor {
            cells = (cells / 2).max(self.floor);
        }
        self.cells.shrink_to(cells);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fifo(floor: usize) -> Fifo<u32> {
        Fifo::new(VecDeque::with_capacity(floor))
    }

    fn fill(fifo: &mut Fifo<u32>, jobs: std::ops::Range<u32>) {
        jobs.for_each(|job| fifo.push_back(job));
    }

    fn drain(fifo: &mut Fifo<u32>, left: usize) -> Vec<u32> {
        let mut out = VecDeque::new();
        while fifo.len() > left {
            fifo.take(1, &mut out);
        }
        out.into()
    }

    ///
    #[test]
    fn halves_at_a_quarter_and_keeps_order_across_the_wrap() {
        let mut fifo = fifo(MIN_CELLS);
        fill(&mut fifo, 0..16);
        assert_eq!(fifo.cells(), 16);
        assert_eq!(drain(&mut fifo, 8), (0..8).collect::<Vec<_>>());
        assert_eq!(fifo.cells(), 16);
        assert_eq!(drain(&mut fifo, 5), [8, 9, 10]);
        assert_eq!(fifo.cells(), 16);
        assert_eq!(drain(&mut fifo, 4), [11]);
        assert_eq!(fifo.cells(), 8);
        fill(&mut fifo, 16..24);
        assert_eq!(drain(&mut fifo, 0), (12..24).collect::<Vec<_>>());
        assert_eq!(fifo.cells(), 2);
    }

    ///
    #[test]
    fn starts_with_two_cells_and_doubles_only_when_full() {
        let mut fifo = fifo(MIN_CELLS);
        let mut seen = vec![(0, fifo.cells())];
        for job in 1..=1_025 {
            fifo.push_back(job);
            if seen.last().is_some_and(|&(_, cells)| cells != fifo.cells()) {
                seen.push((job, fifo.cells()));
            }
        }
        let expected = [
            (0, 2),
            (3, 4),
            (5, 8),
            (9, 16),
            (17, 32),
            (33, 64),
            (65, 128),
            (129, 256),
            (257, 512),
            (513, 1_024),
            (1_025, 2_048),
        ];
        assert_eq!(seen, expected);
    }

    ///
    #[test]
    fn a_block_pop_ends_with_the_cells_of_single_pops() {
        let (mut block, mut single) = (fifo(MIN_CELLS), fifo(MIN_CELLS));
        fill(&mut block, 0..1_024);
        fill(&mut single, 0..1_024);
        let mut taken = VecDeque::new();
        block.take(1_020, &mut taken);
        let one_by_one = drain(&mut single, 4);
        assert_eq!(taken, one_by_one);
        assert_eq!((block.len(), block.cells()), (4, 8));
        assert_eq!((single.len(), single.cells()), (4, 8));
    }

    ///
    #[test]
    fn never_goes_below_its_floor() {
        let mut fifo = fifo(100);
        assert!((100..=128).contains(&fifo.cells()));
        fill(&mut fifo, 0..1_000);
        drain(&mut fifo, 0);
        assert!((100..=128).contains(&fifo.cells()));
    }
}
