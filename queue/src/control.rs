//! What the slots are told while they run: how many there shall be, and how far a shutdown has come.

use std::sync::atomic::Ordering;

use crate::sync::{AtomicU8, AtomicU32, AtomicUsize, fence};

/// How far a shutdown has come. Only forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// No shutdown.
    Running,
    /// Intake is closed; what has not started still starts.
    Draining,
    /// Nothing starts any more; what runs goes on.
    Stopping,
    /// What runs is cancelled.
    Cancelling,
    /// What waits for the worker's answer gives up.
    GivingUp,
}

impl Phase {
    const fn of(code: u8) -> Self {
        match code {
            0 => Self::Running,
            1 => Self::Draining,
            2 => Self::Stopping,
            3 => Self::Cancelling,
            _ => Self::GivingUp,
        }
    }
}

/// One number that slots compare a job; what is behind it they read when it changed.
#[derive(Debug)]
pub(crate) struct Control {
    /// Grows with each change. Release after the change, acquire in the slot: who sees the number sees the change.
    epoch: AtomicU32,
    target: AtomicUsize,
    phase: AtomicU8,
}

impl Control {
    pub(crate) fn new() -> Self {
        Self { epoch: AtomicU32::new(0), target: AtomicUsize::new(0), phase: AtomicU8::new(0) }
    }

    #[inline]
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::Acquire)
    }

    pub(crate) fn phase(&self) -> Phase {
        Phase::of(self.phase.load(Ordering::Acquire))
    }

    pub(crate) fn target(&self) -> usize {
        self.target.load(Ordering::Acquire)
    }

    pub(crate) fn set_target(&self, slots: usize) -> u32 {
        self.target.store(slots, Ordering::Release);
        self.changed()
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
        self.changed();
    }

    /// The slots are to be woken now.
    fn changed(&self) -> u32 {
        let epoch = self.epoch.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
        // With the fence of a slot that has just told its waker: it sees this change, or is seen and woken.
        fence(Ordering::SeqCst);
        epoch
    }
}
