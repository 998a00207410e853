//! What the handle and the slots of one queue share.

use std::future::Future;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::Waker;

use queue_core::{Durability, Meta, Worker};
use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::completion::hooks::{HookCounts, Hooks};
#[cfg(feature = "metrics")]
use crate::completion::metrics::Metrics;
use crate::completion::{Fate, Observed};
use crate::control::{Control, Phase};
use crate::enqueue::Intake;
use crate::health::Monitor;
#[cfg(feature = "metrics")]
use crate::log::contained;
use crate::log::listens;
use crate::policy::Policy;
use crate::service::Calm;
use crate::shutdown::{OnShutdown, Shutdown};
use crate::slot::{Home, Slot, Totals};
use crate::sync::{Notify, RwLock};
use crate::watchdog::Watchdog;

/// The slots that live, each in its place, and what those counted that have ended.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    live: Vec<Option<Arc<Slot>>>,
    count: usize,
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

/// What a queue is told at its start, beside the policy for its jobs.
#[derive(Debug, Default)]
pub(crate) struct Setup {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) hooks: Option<Hooks>,
    /// Never without the feature of that name.
    pub(crate) metrics: bool,
    pub(crate) on_shutdown: Option<OnShutdown>,
}

/// What the handle and the slots of one queue share, whatever its handler is.
#[derive(Debug)]
pub(crate) struct Shared<W: Worker> {
    pub(crate) intake: Arc<Intake<W>>,
    pub(crate) policy: Policy,
    pub(crate) control: Control,
    pub(crate) slots: RwLock<Slots>,
    /// A slot has ended, or followed a change of control.
    pub(crate) slots_changed: Notify,
    pub(crate) watchdog: Watchdog,
    pub(crate) shutdown: Shutdown<W::Job>,
    on_shutdown: OnShutdown,
    hooks: Option<Hooks>,
    #[cfg(feature = "metrics")]
    metrics: Option<Metrics>,
    /// A hook or a recorder wants to hear of each attempt.
    observed: bool,
    pub(crate) monitor: Monitor,
    pub(crate) calm: Calm,
    pub(crate) home: Arc<Home>,
    pub(crate) tracker: TaskTracker,
    pub(crate) runtime: Handle,
}

impl<W: Worker> Shared<W> {
    pub(crate) fn new(intake: Arc<Intake<W>>, policy: Policy, setup: Setup, runtime: Handle) -> Arc<Self> {
        let can = intake.worker.capabilities();
        let name = setup.name.unwrap_or_else(|| can.queue.as_deref().unwrap_or(can.backend).into());
        let default = if can.durability == Durability::Process { OnShutdown::Drain } else { OnShutdown::Return };
        let (monitor, clock) = (Monitor::new(can.durability), intake.worker.clock().reader());
        let observed = setup.hooks.is_some() || setup.metrics;
        Arc::new_cyclic(|engine: &Weak<Self>| Self {
            intake,
            policy,
            control: Control::new(),
            slots: RwLock::default(),
            slots_changed: Notify::new(),
            watchdog: Watchdog::new(Instant::now()),
            shutdown: Shutdown::new(),
            on_shutdown: setup.on_shutdown.unwrap_or(default),
            hooks: setup.hooks,
            #[cfg(feature = "metrics")]
            metrics: setup.metrics.then(|| Metrics::new(&name)),
            observed,
            monitor,
            calm: Calm::default(),
            home: Arc::new(Home { queue: name, clock, engine: engine.clone() }),
            tracker: TaskTracker::new(),
            runtime,
        })
    }

    /// Whether somebody wants to hear of each attempt.
    #[inline]
    pub(crate) fn observes(&self) -> bool {
        self.observed || listens!(span_enabled, INFO)
    }

    /// An attempt that somebody wants to hear of.
    pub(crate) fn observe(&self, meta: &Meta) -> Observed {
        #[cfg(feature = "metrics")]
        if let Some(metrics) = &self.metrics {
            contained(|| metrics.consumed());
        }
        Observed::begin(&self.home.queue, meta)
    }

    /// Tells of an attempt whose verdict is carried out.
    #[cold]
    pub(crate) fn tell(&self, observed: Observed, fate: Fate) {
        let Some(completion) = observed.complete(&self.home.queue, fate) else { return };
        #[cfg(feature = "metrics")]
        if let Some(metrics) = &self.metrics {
            contained(|| metrics.ended(completion.end, completion.duration));
        }
        if let Some(hooks) = &self.hooks {
            hooks.call(completion, &self.tracker, &self.runtime);
        }
    }

    /// Whether too many calls of a hook wait for an attempt to start.
    pub(crate) fn hooks_are_full(&self) -> bool {
        self.hooks.as_ref().is_some_and(Hooks::is_full)
    }

    /// Waits until there is room for the call of a hook.
    pub(crate) async fn hook_room(&self) {
        if let Some(hooks) = &self.hooks {
            hooks.room().await;
        }
    }

    /// Waits until no call of a hook waits for something.
    pub(crate) async fn hooks_ended(&self) {
        if let Some(hooks) = &self.hooks {
            hooks.ended().await;
        }
    }

    pub(crate) fn cut_hooks(&self) {
        if let Some(hooks) = &self.hooks {
            hooks.cut();
        }
    }

    pub(crate) fn hook_counts(&self) -> HookCounts {
        self.hooks.as_ref().map(Hooks::counts).unwrap_or_default()
    }

    /// Asks for the end. The first who does closes the intake, here and now, and puts the rest on the runtime.
    pub(crate) fn shut_down(self: &Arc<Self>, deadline: Instant) {
        if let Some(rest) = self.close(deadline) {
            self.tracker.spawn_on(rest, &self.runtime);
        }
    }

    /// Asks for the end, and closes the intake. The first who does has to run the rest.
    pub(crate) fn close(self: &Arc<Self>, deadline: Instant) -> Option<impl Future<Output = ()> + Send + use<W>> {
        if !self.shutdown.ask(deadline) {
            return None;
        }
        self.worker().close();
        self.enter(match self.on_shutdown {
            OnShutdown::Drain => Phase::Draining,
            OnShutdown::Return => Phase::Stopping,
        });
        Some(Shutdown::drive(self.clone()))
    }

    #[inline]
    pub(crate) fn worker(&self) -> &W {
        &self.intake.worker
    }

    /// Whether its jobs die with this process.
    pub(crate) fn is_volatile(&self) -> bool {
        self.worker().capabilities().durability == Durability::Process
    }

    /// Makes the slots that are missing to `count`, with their places; they are to be spawned.
    pub(crate) fn fill(&self, count: usize) -> Vec<(usize, Arc<Slot>)> {
        let mut slots = self.slots.write();
        let missing = count.saturating_sub(slots.count);
        let places = slots.live.len().max(slots.count + missing);
        slots.live.resize(places, None);
        slots.count += missing;
        let empty = slots.live.iter_mut().enumerate().filter(|(_, slot)| slot.is_none()).take(missing);
        empty.map(|(place, slot)| (place, slot.insert(Arc::new(Slot::new(self.home.clone()))).clone())).collect()
    }

    /// Whether there are more slots than there shall be: whichever has nothing to do, or is done first, ends.
    pub(crate) fn has_surplus(&self) -> bool {
        self.slots.read().count > self.control.target()
    }

    /// A slot wants to end. False where it is wanted after all: others have ended, or a resize up came between.
    pub(crate) fn retire(&self, place: usize, slot: &Arc<Slot>) -> bool {
        let mut slots = self.slots.write();
        if self.control.phase() <= Phase::Draining && slots.count <= self.control.target() {
            return false;
        }
        self.end(&mut slots, place, slot);
        true
    }

    /// A slot ends, wanted or not.
    pub(crate) fn end_slot(&self, place: usize, slot: &Arc<Slot>) {
        self.end(&mut self.slots.write(), place, slot);
    }

    /// Frees the place of `slot`, unless another has it by now.
    fn end(&self, slots: &mut Slots, place: usize, slot: &Arc<Slot>) {
        let Some(place) = slots.live.get_mut(place) else { return };
        if let Some(slot) = place.take_if(|there| Arc::ptr_eq(there, slot)) {
            slots.count -= 1;
            slot.counters.add_to(&mut slots.ended);
            self.slots_changed.notify_waiters();
        }
    }

    /// Whether `waker` is that of a slot: whoever it wakes runs inside a handler.
    pub(crate) fn is_slot(&self, waker: &Waker) -> bool {
        self.slots.read().live().any(|slot| slot.has(waker))
    }

    /// A slot that waits, and will start nothing before it looks again, has followed what the slots were told.
    pub(crate) fn starts_nothing(&self, slot: &Slot) {
        let epoch = self.control.epoch();
        // Relaxed: only the slot itself writes it.
        if slot.seen.load(Ordering::Relaxed) != epoch {
            slot.seen.store(epoch, Ordering::Release);
            self.slots_changed.notify_waiters();
        }
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
