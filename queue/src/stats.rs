//! What a queue counted, and what it has in its hands.

use queue_core::{Tally, Worker};

use crate::engine::Shared;
use crate::slot::Totals;

/// One reading of a queue: plain numbers that add up at any moment.
///
/// On the ring, whose jobs live here:
/// `accepted = queued + held + running + waiting + done + dead + returned + cancelled`.
/// On a broker, per process: `received = held + running + done + dead + retried + returned + cancelled + lost`.
/// For attempts: `started = running + ok + failed + panicked + timed_out + cut_short`
/// (a job that waits in its slot for a retry counts as running, and has no running attempt).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Jobs accepted from this process.
    pub accepted: u64,
    /// Jobs given back to whoever enqueued them.
    pub rejected: u64,
    /// Jobs that could start now (on the ring).
    pub queued: u64,
    /// Deliveries that a slot has and has not started.
    pub held: u64,
    /// Jobs that have a slot.
    pub running: u64,
    /// Jobs that wait for their time: delayed, or to be tried again (on the ring).
    pub waiting: u64,
    /// Jobs that ended well.
    pub done: u64,
    /// Jobs that will not be tried again.
    pub dead: u64,
    /// Jobs handed back: on the ring those that a shutdown gave to the report, on a broker deliveries.
    pub returned: u64,
    /// Jobs cancelled: by id, or at a shutdown's deadline where the worker kept no copy.
    pub cancelled: u64,
    /// Deliveries taken from the worker.
    pub received: u64,
    /// Deliveries that went back for another attempt.
    pub retried: u64,
    /// Deliveries that somebody else had when they were settled.
    pub lost: u64,
    /// Attempts started.
    pub started: u64,
    /// Attempts that ended well.
    pub ok: u64,
    /// Attempts that returned an error, or asked for a retry.
    pub failed: u64,
    /// Attempts that panicked.
    pub panicked: u64,
    /// Attempts that took longer than their timeout.
    pub timed_out: u64,
    /// Attempts that were cut short by a shutdown, a lost ownership, or their own snooze.
    pub cut_short: u64,
    /// Blocking handlers that run on after their attempt has ended; each still has its slot.
    pub overdue: u64,
    /// Blocking handlers that returned after their attempt had ended.
    pub late: u64,
    /// Slots that live.
    pub slots: u64,
    /// Calls of `on_complete` that wait for something.
    pub hooks_waiting: u64,
    /// Calls of `on_complete` that panicked.
    pub hooks_panicked: u64,
    /// Calls of `on_complete` that were left out, for too many waited and none of them ended.
    pub hooks_left_out: u64,
    /// Calls of `on_complete` that a shutdown cut short.
    pub hooks_cut: u64,
}

impl Stats {
    /// A reading: the slots first, then the worker. So nothing is counted as ended that is not yet counted as begun.
    pub(crate) fn read<W: Worker>(shared: &Shared<W>) -> Self {
        let (totals, slots) = {
            let slots = shared.slots.read();
            (slots.totals(), slots.live().count() as u64)
        };
        let tally = shared.worker().tally();
        let mut stats = Self::of_attempts(&totals);
        if W::ACK_BY_DROP {
            // The attempt that ended well is the ack.
            stats.done = totals.ok;
        }
        stats.slots = slots;
        let hooks = shared.hook_counts();
        stats.hooks_waiting = hooks.waiting;
        stats.hooks_panicked = hooks.panicked;
        stats.hooks_left_out = hooks.left_out;
        stats.hooks_cut = hooks.cut;
        stats.rejected = shared.intake.rejected();
        stats.accepted = tally.accepted;
        let in_hand = if shared.is_volatile() { stats.add_ring(&tally, &totals) } else { stats.add_broker(&totals) };
        stats.running = totals.running.min(in_hand);
        stats.held = in_hand - stats.running;
        stats
    }

    const fn of_attempts(totals: &Totals) -> Self {
        Self {
            accepted: 0,
            rejected: 0,
            queued: 0,
            held: 0,
            running: 0,
            waiting: 0,
            done: totals.acked,
            dead: totals.dead,
            returned: totals.returned,
            cancelled: totals.gone,
            received: totals.received,
            retried: totals.retried,
            lost: totals.lost,
            started: totals.started,
            ok: totals.ok,
            failed: totals.failed,
            panicked: totals.panicked,
            timed_out: totals.timed_out,
            cut_short: totals.cancelled,
            overdue: totals.overdue,
            late: totals.late,
            slots: 0,
            hooks_waiting: 0,
            hooks_panicked: 0,
            hooks_left_out: 0,
            hooks_cut: 0,
        }
    }

    /// What the ring has was read under its lock: the rest of what it accepted is in the slots' hands, or has ended.
    const fn add_ring(&mut self, tally: &Tally, totals: &Totals) -> u64 {
        self.queued = tally.queued;
        self.waiting = tally.waiting;
        self.returned = tally.handed_over;
        self.cancelled = tally.cancelled + totals.gone;
        let elsewhere = self.queued + self.waiting + self.returned + self.cancelled + self.done + self.dead;
        self.accepted.saturating_sub(elsewhere)
    }

    const fn add_broker(&self, totals: &Totals) -> u64 {
        let ended = self.done + self.dead + self.retried + self.returned + self.cancelled + totals.lost;
        self.received.saturating_sub(ended)
    }
}
