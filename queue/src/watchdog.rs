//! One task a queue that fires timeouts and moves the coarse clock. Asleep while there is nothing to watch.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use queue_core::{Clock, Worker};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};

use crate::engine::Shared;

/// How late a timeout may fire, and how coarse the clock of a busy queue is: 5 ms.
pub(crate) const TICK: Duration = Clock::TICK;

/// What wakes the watchdog.
#[derive(Debug)]
pub(crate) struct Watchdog {
    base: Instant,
    /// The clock is being ticked. Relaxed: who misses it reads the exact time.
    ticking: AtomicBool,
    /// The deadline it sleeps towards, in nanoseconds since `base`. Sequentially consistent with the slots' deadlines.
    sleeps_until: AtomicU64,
    wake: Notify,
    stopped: AtomicBool,
    /// Cuts its tick short at the end, so that no task outlives a shutdown.
    ended: Notify,
}

impl Watchdog {
    pub(crate) fn new(base: Instant) -> Self {
        Self {
            base,
            ticking: AtomicBool::new(false),
            sleeps_until: AtomicU64::new(u64::MAX),
            wake: Notify::new(),
            stopped: AtomicBool::new(false),
            ended: Notify::new(),
        }
    }

    /// The instant as nanoseconds since the queue was made; at most 584 years.
    pub(crate) fn nanos(&self, instant: Instant) -> u64 {
        u64::try_from(instant.saturating_duration_since(self.base).as_nanos()).unwrap_or(u64::MAX - 1)
    }

    /// The instant that is so many nanoseconds after the queue was made.
    pub(crate) fn instant(&self, nanos: u64) -> Instant {
        self.base + Duration::from_nanos(nanos)
    }

    /// A slot has jobs: the clock shall tick.
    #[inline]
    pub(crate) fn jobs_came(&self) {
        if !self.ticking.load(Ordering::Relaxed) {
            self.wake.notify_one();
        }
    }

    /// A slot has armed `deadline`.
    pub(crate) fn armed(&self, deadline: u64) {
        if deadline < self.sleeps_until.load(Ordering::SeqCst) {
            self.wake.notify_one();
        }
    }

    /// The queue has ended.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.wake.notify_one();
        self.ended.notify_one();
    }

    /// Watches until the queue has ended.
    pub(crate) async fn watch<W: Worker>(shared: &Shared<W>) {
        let this = &shared.watchdog;
        let clock = shared.worker().clock();
        let mut started = 0;
        while !this.stopped.load(Ordering::Acquire) {
            let now = Instant::now();
            let jobs = shared.slots.read().totals().started;
            let busy = jobs != started;
            started = jobs;
            this.ticking.store(busy, Ordering::Relaxed);
            if busy {
                clock.tick(now);
            } else {
                clock.stop();
            }
            let next = this.look(shared, now);
            // No deadline is looked at twice within a tick: many that follow each other closely cost one look.
            let next = next.map(|next| next.max(now + TICK));
            if busy {
                drop(timeout(TICK, this.ended.notified()).await);
            } else if let Some(next) = next {
                // Whether its time has come or it was woken: it looks.
                drop(timeout_at(next, this.wake.notified()).await);
            } else {
                this.wake.notified().await;
            }
        }
        clock.stop();
    }

    /// Fires what has passed, and says what it will sleep towards.
    fn look<W: Worker>(&self, shared: &Shared<W>, now: Instant) -> Option<Instant> {
        let now = self.nanos(now);
        let earliest = || shared.slots.read().live().filter_map(|slot| slot.look(now)).min();
        // Said before the second look: who arms an earlier deadline after it sees this, and wakes the watchdog.
        let next = earliest().unwrap_or(u64::MAX);
        self.sleeps_until.store(next, Ordering::SeqCst);
        let next = earliest().map_or(next, |again| again.min(next));
        self.sleeps_until.store(next, Ordering::SeqCst);
        (next != u64::MAX).then(|| self.instant(next))
    }
}
