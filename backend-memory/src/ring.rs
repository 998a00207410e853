//! The ring: its lock, its clock, and what it can do.

use std::collections::VecDeque;
use std::fmt;

use queue_core::{Capabilities, Clock, Delivery, Durability, Feature, Order, Tier};

use crate::fifo::MIN_CELLS;
use crate::state::State;
use crate::sync::Mutex;
use crate::{Cloned, Mode, Moved, Own, RingBuilder};

/// How many deliveries a slot may take ahead: a lock a batch instead of a lock a job, and no more jobs behind a slow one
/// than a give-back returns at once.
const SHARE: usize = 64;

/// The in-memory worker: a ring that grows and shrinks with its backlog.
///
/// Its backing array doubles when full, halves when a quarter is left, and never goes below its floor. A capacity is
/// exact, order is first in first out inside a priority, and a job leaves nothing behind.
///
/// ```
/// use backend_memory::Ring;
/// let ring: Ring<String> = Ring::new();            // no limit, can retry
/// let small: Ring<u64> = Ring::builder().capacity(100).build()?;
/// let once = Ring::<Box<dyn FnOnce() + Send>, _>::once();   // jobs that are not Clone
/// # drop((ring, small, once));
/// # Ok::<(), backend_memory::InvalidRing>(())
/// ```
pub struct Ring<J, M = Cloned> {
    pub(crate) state: Mutex<State<Own<J, M>>>,
    pub(crate) clock: Clock,
    pub(crate) capabilities: Capabilities,
}

impl Ring<(), Cloned> {
    /// The settings of a ring, at their defaults.
    pub const fn builder() -> RingBuilder {
        RingBuilder::new()
    }
}

impl<J: Clone + Send + 'static> Ring<J, Cloned> {
    /// A ring without a limit.
    #[must_use]
    pub fn new() -> Self {
        Self::with(VecDeque::with_capacity(MIN_CELLS), usize::MAX, 1_000)
    }
}

impl<J: Clone + Send + 'static> Default for Ring<J, Cloned> {
    fn default() -> Self {
        Self::new()
    }
}

impl<J: Send + 'static> Ring<J, Moved> {
    /// A ring without a limit for jobs that run once: closures, connections, whatever is not `Clone`.
    ///
    /// A job is moved into its handler: it cannot be retried, its dead letter does not have it, and a shutdown that
    /// cancels it cannot give it back.
    #[must_use]
    pub fn once() -> Self {
        Self::with(VecDeque::with_capacity(MIN_CELLS), usize::MAX, 1_000)
    }
}

impl<J, M: Mode> Ring<J, M> {
    pub(crate) fn with(cells: VecDeque<Delivery<Own<J, M>, ()>>, capacity: usize, dead_letters: usize) -> Self {
        let letters = if dead_letters == 0 { Tier::Absent } else { Tier::Native };
        let retries = if M::RETRIES { Tier::Native } else { Tier::Absent };
        let mut capabilities = Capabilities::new("memory", Durability::Process)
            .with_share(SHARE)
            .with(Feature::Retries, retries)
            .with(Feature::Delays, Tier::Native)
            .with(Feature::Priorities, Tier::Native)
            .with(Feature::DeadLetters, letters)
            .with(Feature::Inspects, Tier::Native)
            .with(Feature::Cancels, Tier::Native)
            .with(Feature::Pauses, Tier::Native)
            .with(Feature::JobOptions, Tier::Native);
        capabilities.order = Order::Queue;
        Self { state: Mutex::new(State::new(cells, capacity, dead_letters)), clock: Clock::new(), capabilities }
    }

    /// The size of the backing array, in jobs.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.state.lock().ready.cells()
    }

    /// How many jobs wait: those that could start now, and delayed ones.
    #[must_use]
    pub fn len(&self) -> usize {
        let state = self.state.lock();
        state.ready.len() + state.delayed.len()
    }

    /// Whether no job waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Wakes enqueuers that wait for room, without allocating and without the lock.
    #[cold]
    pub(crate) fn wake_senders(&self, mut count: usize) {
        while count > 0 {
            let woken = self.state.lock().senders.take(count);
            count = count.saturating_sub(woken.len().max(1));
            woken.wake();
        }
    }
}

impl<J, M> fmt::Debug for Ring<J, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tally = self.state.lock().tally();
        f.debug_struct("Ring").field("queued", &tally.queued).field("waiting", &tally.waiting).finish_non_exhaustive()
    }
}
