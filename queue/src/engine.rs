//! What the handle and the slots of one queue share.

use std::sync::Arc;
use std::task::Waker;

use parking_lot::RwLock;
use queue_core::{Durability, Worker};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::control::{Control, Phase};
use crate::enqueue::Intake;
use crate::policy::Policy;
use crate::slot::{Slot, Totals};
use crate::watchdog::Watchdog;

/// The slots that live, by rank, and what those counted that have ended.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    live: Vec<Option<Arc<Slot>>>,
    ended: Totals,
}

impl Slots {
    pub(crate) fn live(&self) -> impl Iterator<Item = &Arc<Slot>> {
        self.live.iter().flatten()
    }

    pub(crate) fn totals(&self) -> Totals {
        let mut totals = self.ended;
        self.live().for_each(|slot| slot.counters.add_to(&mut totals));
        totals
    }
}

/// What the handle and the slots of one queue share, whatever its handler is.
#[derive(Debug)]
pub(crate) struct Shared<W> {
    pub(crate) intake: Arc<Intake<W>>,
    pub(crate) policy: Policy,
    pub(crate) control: Control,
    pub(crate) slots: RwLock<Slots>,
    /// A slot has ended, or followed a change of control.
    pub(crate) slots_changed: Notify,
    pub(crate) watchdog: Watchdog,
    pub(crate) tracker: TaskTracker,
}

impl<W: Worker> Shared<W> {
    pub(crate) fn new(intake: Arc<Intake<W>>, policy: Policy, slots: usize) -> Self {
        Self {
            intake,
            policy,
            control: Control::new(slots),
            slots: RwLock::default(),
            slots_changed: Notify::new(),
            watchdog: Watchdog::new(Instant::now()),
            tracker: TaskTracker::new(),
        }
    }

    #[inline]
    pub(crate) fn worker(&self) -> &W {
        &self.intake.worker
    }

    /// Whether its jobs die with this process.
    pub(crate) fn is_volatile(&self) -> bool {
        self.worker().capabilities().durability == Durability::Process
    }

    /// Makes slots for the ranks below `count` that have none; they are to be spawned.
    pub(crate) fn fill(&self, count: usize) -> Vec<(usize, Arc<Slot>)> {
        let mut slots = self.slots.write();
        if slots.live.len() < count {
            slots.live.resize(count, None);
        }
        let empty = slots.live.iter_mut().take(count).enumerate().filter(|(_, place)| place.is_none());
        empty.map(|(rank, place)| (rank, place.insert(Arc::default()).clone())).collect()
    }

    /// A slot wants to end. False where it is wanted after all: a resize up came between.
    pub(crate) fn retire(&self, rank: usize, slot: &Arc<Slot>) -> bool {
        let mut slots = self.slots.write();
        if self.control.phase() <= Phase::Draining && rank < self.control.target() {
            return false;
        }
        self.end(&mut slots, rank, slot);
        true
    }

    /// A slot ends, wanted or not.
    pub(crate) fn end_slot(&self, rank: usize, slot: &Arc<Slot>) {
        self.end(&mut self.slots.write(), rank, slot);
    }

    /// Frees the place of `slot`, unless another has it by now.
    fn end(&self, slots: &mut Slots, rank: usize, slot: &Arc<Slot>) {
        let Some(place) = slots.live.get_mut(rank) else { return };
        if let Some(slot) = place.take_if(|there| Arc::ptr_eq(there, slot)) {
            slot.counters.add_to(&mut slots.ended);
            self.slots_changed.notify_waiters();
        }
    }

    /// Whether `waker` is that of a slot: whoever it wakes runs inside a handler.
    pub(crate) fn is_slot(&self, waker: &Waker) -> bool {
        self.slots.read().live().any(|slot| slot.has(waker))
    }

    pub(crate) fn wake_slots(&self) {
        self.slots.read().live().for_each(|slot| slot.wake());
    }

    /// Tells all slots how far the shutdown has come.
    pub(crate) fn enter(&self, phase: Phase) {
        self.control.set_phase(phase);
        self.wake_slots();
    }

    /// Waits until `done` holds for the slots.
    pub(crate) async fn until(&self, done: impl Fn(&Slots) -> bool) {
        loop {
            let changed = self.slots_changed.notified();
            if done(&self.slots.read()) {
                return;
            }
            changed.await;
        }
    }
}
