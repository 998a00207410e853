//! How a ring is made.

use std::collections::VecDeque;

use queue_core::{Delivery, Payload};

use crate::fifo::MIN_CELLS;
use crate::{Cloned, Mode, Moved, Own, Ring};

/// Why a ring cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRing {
    /// A ring without room.
    #[error("a ring of capacity 0 can take no job: give it at least 1, or no capacity for one without a limit")]
    CapacityZero,
    /// The floor does not fit into memory.
    #[error("no memory for a ring that keeps room for {floor} jobs: choose a lower floor")]
    FloorTooLarge {
        /// The floor that was asked for, in jobs.
        floor: usize,
    },
}

/// The settings of a [`Ring`].
///
/// | setting | default | why |
/// |---|---|---|
/// | [`capacity`](Self::capacity) | none | a queue in front of slow work should say how much may wait |
/// | [`floor`](Self::floor) | 2 | an idle queue costs nothing; set it to the capacity where bursts are the rule |
/// | [`dead_letters`](Self::dead_letters) | 1,000 | enough to see what goes wrong, bounded |
///
/// ```
/// use backend_memory::{InvalidRing, Ring};
/// let ring: Ring<String> = Ring::builder().capacity(1_024).floor(1_024).build()?;
/// assert!(matches!(Ring::builder().capacity(0).build::<String>(), Err(InvalidRing::CapacityZero)));
/// # drop(ring);
/// # Ok::<(), InvalidRing>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct RingBuilder {
    capacity: Option<usize>,
    floor: usize,
    dead_letters: usize,
}

impl RingBuilder {
    pub(crate) const fn new() -> Self {
        Self { capacity: None, floor: MIN_CELLS, dead_letters: 1_000 }
    }

    /// How many jobs may wait, delayed ones included, before a new one is refused or its enqueue waits: at least 1.
    ///
    /// A job that comes back (retried, returned) is never refused for room. Without a capacity there is no limit.
    pub const fn capacity(mut self, jobs: usize) -> Self {
        self.capacity = Some(jobs);
        self
    }

    /// For how many jobs the ring keeps its memory when it drains. Below 2 it is 2; above the capacity it is the capacity.
    pub const fn floor(mut self, jobs: usize) -> Self {
        self.floor = jobs;
        self
    }

    /// How many dead letters are kept; beyond that the oldest is dropped and counted. 0 keeps none: then a job is cloned
    /// only while an attempt is left.
    pub const fn dead_letters(mut self, letters: usize) -> Self {
        self.dead_letters = letters;
        self
    }

    /// A ring that can retry: it clones a job when it starts, while a later attempt or a dead letter could need it.
    ///
    /// # Errors
    /// Capacity 0, or a floor that does not fit into memory.
    pub fn build<J: Clone + Send + 'static>(self) -> Result<Ring<J>, InvalidRing> {
        self.make::<J, Cloned>()
    }

    /// A ring that moves each job into its handler, once.
    ///
    /// # Errors
    /// Capacity 0, or a floor that does not fit into memory.
    pub fn build_once<J: Send + 'static>(self) -> Result<Ring<J, Moved>, InvalidRing> {
        self.make::<J, Moved>()
    }

    fn make<J, M>(self) -> Result<Ring<J, M>, InvalidRing>
    where
        Own<J, M>: Payload<Job = J>,
        M: Mode,
    {
        let capacity = self.capacity.unwrap_or(usize::MAX);
        if capacity == 0 {
            return Err(InvalidRing::CapacityZero);
        }
        let floor = self.floor.min(capacity).max(MIN_CELLS);
        let mut cells: VecDeque<Delivery<Own<J, M>, ()>> = VecDeque::new();
        cells.try_reserve_exact(floor).map_err(|_| InvalidRing::FloorTooLarge { floor })?;
        Ok(Ring::with(cells, capacity, self.dead_letters))
    }
}
