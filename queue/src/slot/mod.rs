//! One unit of concurrency: a task that takes deliveries, runs the handler, and settles.
//!
//! `task.rs` is its life, `drive.rs` the path of a job that every nanosecond of is paid for, `suspended.rs` a handler that
//! waits, `end.rs` what becomes of an attempt, `settle.rs` how the worker hears of it.

mod counters;
mod drive;
mod end;
mod settle;
mod suspended;
mod task;

pub(crate) use counters::{Counters, Totals};
pub(crate) use task::SlotTask;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::Waker;

use queue_core::Clock;

use crate::handler::CancelSignal;
use crate::shutdown::{Ends, ShutdownHandle};
use crate::sync::{AtomicU32, OnceLock, fence};

/// What a job may learn of its queue, whatever the worker and the handler are.
pub(crate) struct Home {
    pub(crate) queue: Arc<str>,
    /// The worker's, as far as its stamps go.
    pub(crate) clock: Clock,
    pub(crate) engine: Weak<dyn Ends>,
}

impl Home {
    pub(crate) fn shutdown_handle(&self) -> ShutdownHandle {
        ShutdownHandle::new(self.engine.clone())
    }
}

impl std::fmt::Debug for Home {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Home").field("queue", &self.queue).finish_non_exhaustive()
    }
}

/// What others may know and ask of a slot. Aligned, so that two slots share no cache line.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Slot {
    pub(crate) counters: Counters,
    pub(crate) home: Arc<Home>,
    /// When the running attempt times out, in nanoseconds on the engine's clock; 0 while none does.
    deadline: AtomicU64,
    /// The last deadline that the watchdog saw pass: whose it was is told by its value, for the watchdog may be late. Release
    /// there, acquire in the slot.
    expired: AtomicU64,
    /// The waker of the slot's task, the same for its whole life.
    waker: OnceLock<Waker>,
    /// The last change of control that the slot has followed.
    pub(crate) seen: AtomicU32,
    /// Since when its request waits for a broker, in nanoseconds on the engine's clock; 0 while none does.
    waits_since: AtomicU64,
    pub(crate) cancel: CancelSignal,
}

impl Slot {
    pub(crate) fn new(home: Arc<Home>) -> Self {
        Self {
            counters: Counters::default(),
            home,
            deadline: AtomicU64::new(0),
            expired: AtomicU64::new(0),
            waker: OnceLock::default(),
            seen: AtomicU32::new(0),
            waits_since: AtomicU64::new(0),
            cancel: CancelSignal::default(),
        }
    }

    /// Its request waits since `nanos`; 0: it does not. Relaxed: it is about nothing else.
    fn set_waits_since(&self, nanos: u64) {
        self.waits_since.store(nanos, Ordering::Relaxed);
    }

    pub(crate) fn waits_since(&self) -> Option<u64> {
        Some(self.waits_since.load(Ordering::Relaxed)).filter(|&since| since > 0)
    }

    /// Which job of the slot runs: how many it has started.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.counters.started.get()
    }

    /// The slot's task runs, and is woken from here on. Told once: a slot has one task.
    fn runs(&self, waker: Waker) {
        self.waker.get_or_init(|| waker);
        // With the fence of `Control::changed`: a change that did not see the waker is seen by the slot.
        fence(Ordering::SeqCst);
    }

    /// Wakes the slot's task, wherever it waits. Before its first poll there is nothing to wake.
    pub(crate) fn wake(&self) {
        if let Some(waker) = self.waker.get() {
            waker.wake_by_ref();
        }
    }

    pub(crate) fn has(&self, waker: &Waker) -> bool {
        self.waker.get().is_some_and(|own| own.will_wake(waker))
    }

    /// The attempt times out at `deadline`, in nanoseconds on the engine's clock, above 0. No two attempts of a slot have
    /// the same: when the watchdog sees it pass, the next one's is still to come.
    fn arm(&self, deadline: u64) {
        // Sequentially consistent, with the watchdog's look before it sleeps: one of the two sees the other.
        self.deadline.store(deadline, Ordering::SeqCst);
    }

    fn disarm(&self) {
        self.deadline.store(0, Ordering::Relaxed);
    }

    #[inline]
    fn is_expired(&self, deadline: u64) -> bool {
        self.expired.load(Ordering::Acquire) == deadline
    }

    /// The watchdog's look: fires a deadline that has passed; answers one that is still to come.
    pub(crate) fn look(&self, now: u64) -> Option<u64> {
        let deadline = self.deadline.load(Ordering::SeqCst);
        if deadline == 0 {
            return None;
        }
        if deadline > now {
            return Some(deadline);
        }
        if self.deadline.compare_exchange(deadline, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            self.expired.store(deadline, Ordering::Release);
            self.wake();
        }
        None
    }
}
