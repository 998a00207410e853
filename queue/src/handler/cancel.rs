//! How a running handler hears that it shall stop.

use std::sync::atomic::{AtomicU64, Ordering};

use queue_core::Loss;
use tokio::sync::Notify;

/// Why a running handler is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CancelReason {
    /// The attempt took longer than its timeout.
    Timeout,
    /// The queue shuts down, and its deadline has come.
    Shutdown,
    /// Somebody else has the job.
    LostOwnership(Loss),
}

impl CancelReason {
    const fn code(self) -> u64 {
        match self {
            Self::Timeout => 1,
            Self::Shutdown => 2,
            Self::LostOwnership(Loss::LeaseExpired) => 3,
            Self::LostOwnership(Loss::Disconnected) => 4,
            Self::LostOwnership(_) => 5,
        }
    }

    const fn of(code: u64) -> Option<Self> {
        match code {
            1 => Some(Self::Timeout),
            2 => Some(Self::Shutdown),
            3 => Some(Self::LostOwnership(Loss::LeaseExpired)),
            4 => Some(Self::LostOwnership(Loss::Disconnected)),
            5 => Some(Self::LostOwnership(Loss::Revoked)),
            _ => None,
        }
    }
}

/// How many bits hold the reason; the rest hold the job's number in its slot.
const REASON_BITS: u32 = 3;

/// One signal a slot, for one job after the other: nothing is allocated a job.
#[derive(Debug, Default)]
pub(crate) struct CancelSignal {
    /// The number of the last cancelled job in this slot, and the reason. Release on the signal, acquire on the look.
    last: AtomicU64,
    changed: Notify,
}

impl CancelSignal {
    /// Cancels the `job`th job of the slot.
    pub(crate) fn cancel(&self, job: u64, why: CancelReason) {
        self.last.store(job << REASON_BITS | why.code(), Ordering::Release);
        self.changed.notify_waiters();
    }

    pub(crate) fn reason(&self, job: u64) -> Option<CancelReason> {
        let last = self.last.load(Ordering::Acquire);
        if last >> REASON_BITS == job { CancelReason::of(last & ((1 << REASON_BITS) - 1)) } else { None }
    }

    pub(crate) async fn cancelled(&self, job: u64) -> CancelReason {
        loop {
            let changed = self.changed.notified();
            if let Some(reason) = self.reason(job) {
                return reason;
            }
            changed.await;
        }
    }
}
