//! What a slot counts: written by it alone, read by anyone.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A number that one task writes: a load and a store, no locked instruction.
///
/// Release and acquire, so that who sees an attempt's end has seen its start.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Release);
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// The counters of a slot, the ones of every job first.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Attempts started.
    pub(crate) started: Count,
    /// Attempts that ended well.
    pub(crate) ok: Count,
    /// Attempts whose handler returned an error, or asked for a retry.
    pub(crate) failed: Count,
    pub(crate) panicked: Count,
    pub(crate) timed_out: Count,
    /// Attempts that were cut short: by a shutdown, a lost ownership, or the handler's own snooze.
    pub(crate) cancelled: Count,
    /// Deliveries taken from the worker, less those given back.
    pub(crate) received: Count,
    /// Verdicts that the worker has carried out. An ack by drop is none.
    pub(crate) acked: Count,
    pub(crate) retried: Count,
    pub(crate) dead: Count,
    pub(crate) returned: Count,
    /// Jobs that could not be handed out again, for the worker had no copy.
    pub(crate) gone: Count,
    /// Verdicts that came too late.
    pub(crate) lost: Count,
    /// Handlers that returned after their attempt had been settled.
    pub(crate) late: Count,
    /// The job waits in the slot for its next attempt.
    waits: AtomicBool,
    /// A handler that cannot be stopped runs on after its attempt was settled.
    overdue: AtomicBool,
    /// A shutdown has told the handler to stop, and it cannot be stopped.
    stuck: AtomicBool,
}

/// Sums over slots.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Totals {
    pub(crate) started: u64,
    pub(crate) ok: u64,
    pub(crate) failed: u64,
    pub(crate) panicked: u64,
    pub(crate) timed_out: u64,
    pub(crate) cancelled: u64,
    pub(crate) received: u64,
    pub(crate) acked: u64,
    pub(crate) retried: u64,
    pub(crate) dead: u64,
    pub(crate) returned: u64,
    pub(crate) gone: u64,
    pub(crate) lost: u64,
    pub(crate) late: u64,
    pub(crate) running: u64,
    pub(crate) overdue: u64,
}

impl Counters {
    pub(crate) fn set_waits(&self, waits: bool) {
        self.waits.store(waits, Ordering::Release);
    }

    pub(crate) fn set_overdue(&self, overdue: bool) {
        self.overdue.store(overdue, Ordering::Release);
    }

    pub(crate) fn set_stuck(&self, stuck: bool) {
        self.stuck.store(stuck, Ordering::Release);
    }

    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck.load(Ordering::Acquire)
    }

    /// Adds a reading of this slot.
    ///
    /// What ends a job is read first and what begins it last, so a live reading never shows more ended than begun. A slot
    /// runs one job at most; what it started since is counted in the next reading.
    pub(crate) fn add_to(&self, totals: &mut Totals) {
        totals.acked += self.acked.get();
        totals.retried += self.retried.get();
        totals.dead += self.dead.get();
        totals.returned += self.returned.get();
        totals.gone += self.gone.get();
        totals.lost += self.lost.get();
        totals.late += self.late.get();
        let ends = [&self.ok, &self.failed, &self.panicked, &self.timed_out, &self.cancelled].map(Count::get);
        let [ok, failed, panicked, timed_out, cancelled] = ends;
        let ended: u64 = ends.iter().sum();
        let runs = u64::from(self.started.get() > ended);
        totals.ok += ok;
        totals.failed += failed;
        totals.panicked += panicked;
        totals.timed_out += timed_out;
        totals.cancelled += cancelled;
        totals.started += ended + runs;
        totals.running += runs.max(u64::from(self.waits.load(Ordering::Acquire)));
        totals.overdue += u64::from(self.overdue.load(Ordering::Acquire));
        totals.received += self.received.get();
    }
}
