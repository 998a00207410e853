//! What was seen of a worker: by its events, and by how its calls end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use queue_core::{Durability, Event, EventLog, Events, Worker, WorkerError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Health, HealthState};
use crate::control::Phase;
use crate::engine::Shared;
use crate::handler::error_chain;
use crate::log::log;

/// After so long a slot that waits, and hears of no fetch, is no good sign: brokers are asked every few seconds.
const STALLED: Duration = Duration::from_secs(30);

/// A failure that repeats is logged once in so long.
const LOG_EVERY: Duration = Duration::from_secs(1);

/// How often a worker is asked that answers without a delivery, which the contract does not know: 50 times a second.
const EMPTY: Duration = Duration::from_millis(20);

/// How many events are kept for readers that lag.
const EVENTS: usize = 64;

/// What was seen so far.
#[derive(Debug)]
pub(crate) struct Monitor {
    seen: Mutex<Seen>,
    events: EventLog,
    /// Its fetches are worth a note: there is a broker.
    pub(crate) broker: bool,
    /// The worker hands out nothing any more, and nobody had asked it to end. Release, after what it is about.
    closed: AtomicBool,
    /// The worker tells of its fetches: then silence means something. Relaxed: set once, at the start.
    listens: AtomicBool,
    over: CancellationToken,
}

#[derive(Debug, Default)]
struct Seen {
    last_fetch: Option<Instant>,
    last_error: Option<Arc<str>>,
    failing: bool,
    disconnected: bool,
    reconnects: u64,
    blocked: bool,
    logged: Option<Instant>,
    /// Failures that were not logged since the last that was.
    unlogged: u64,
    /// The last turn that was given to a request after an empty one.
    empty: Option<Instant>,
}

impl Monitor {
    pub(crate) fn new(durability: Durability) -> Self {
        Self {
            seen: Mutex::default(),
            events: EventLog::new(EVENTS),
            broker: durability != Durability::Process,
            closed: AtomicBool::new(false),
            listens: AtomicBool::new(false),
            over: CancellationToken::new(),
        }
    }

    pub(crate) fn events(&self) -> Events {
        self.events.events()
    }

    /// A call was answered.
    pub(crate) fn answered(&self) {
        let mut seen = self.seen.lock();
        seen.last_fetch = Some(Instant::now());
        seen.failing = false;
    }

    /// A call that is no fetch was answered, after others had failed.
    pub(crate) fn recovered(&self) {
        self.seen.lock().failing = false;
    }

    /// A request was answered without a delivery. How long its slot waits: all slots together ask as often as one may.
    pub(crate) fn empty_turn(&self) -> Duration {
        let now = Instant::now();
        let mut seen = self.seen.lock();
        let turn = seen.empty.map_or(now, |last| last.max(now)) + EMPTY;
        seen.empty = Some(turn);
        turn - now
    }

    /// A call failed. Told in the log once a second, whatever fails.
    pub(crate) fn failed(&self, error: &WorkerError, what: &str) {
        let text: Arc<str> = error_chain(error).into();
        let mut seen = self.seen.lock();
        seen.failing = true;
        seen.last_error = Some(text.clone());
        let now = Instant::now();
        let unlogged = if seen.logged.is_none_or(|logged| now.duration_since(logged) >= LOG_EVERY) {
            seen.logged = Some(now);
            Some(std::mem::take(&mut seen.unlogged))
        } else {
            seen.unlogged += 1;
            None
        };
        drop(seen);
        if let Some(unlogged) = unlogged {
            log!(warn, error = %text, unlogged, "{what}");
        }
        self.events.note(Event::Failed(text));
    }

    /// The worker hands out nothing any more.
    pub(crate) fn close(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            log!(error, "The worker is closed though nobody asked it to end: the queue takes no more jobs from it.");
            self.events.note(Event::Closed);
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// The queue has ended.
    pub(crate) fn stop(&self) {
        self.over.cancel();
    }

    /// Listens to the worker until the queue has ended.
    pub(crate) async fn listen<W: Worker>(shared: &Shared<W>, mut events: Events) {
        let this = &shared.monitor;
        this.listens.store(true, Ordering::Relaxed);
        while let Some(Some(event)) = this.over.run_until_cancelled(events.next()).await {
            this.see(&event);
            // There are many of them, and readers want the others.
            if !matches!(event, Event::Fetched) {
                this.events.note(event);
            }
        }
    }

    fn see(&self, event: &Event) {
        let mut seen = self.seen.lock();
        match event {
            Event::Fetched => {
                seen.last_fetch = Some(Instant::now());
                seen.failing = false;
            }
            Event::Connected => {
                seen.reconnects += u64::from(seen.disconnected);
                seen.disconnected = false;
            }
            Event::Disconnected(why) => {
                seen.disconnected = true;
                seen.last_error = Some(why.clone());
            }
            Event::Failed(why) => {
                seen.failing = true;
                seen.last_error = Some(why.clone());
            }
            Event::Blocked(blocked) => seen.blocked = *blocked,
            _ => {}
        }
    }

    /// What there is to say now. A `producer` has no slots and never will.
    pub(crate) fn health<W: Worker>(shared: &Shared<W>, producer: bool) -> Health {
        let now = Instant::now();
        let waiting = shared.slots.read().live().filter_map(|slot| slot.waits_since()).min();
        let waiting = waiting.map(|since| shared.watchdog.instant(since));
        let this = &shared.monitor;
        let seen = this.seen.lock();
        let listens = this.listens.load(Ordering::Relaxed);
        let stalled = listens
            && waiting.is_some_and(|since| {
                let heard = seen.last_fetch.map_or(since, |fetch| fetch.max(since));
                now.saturating_duration_since(heard) > STALLED
            });
        let state = if this.is_closed() || shared.shutdown.is_over() {
            HealthState::Stopped
        } else if shared.control.phase() > Phase::Running {
            HealthState::Stopping
        } else if !producer && shared.control.target() == 0 {
            HealthState::Paused
        } else if seen.failing || seen.disconnected {
            HealthState::Failing
        } else if producer {
            HealthState::Producing
        } else if stalled {
            HealthState::Stalled
        } else if listens && seen.last_fetch.is_none() {
            HealthState::Starting
        } else {
            HealthState::Consuming
        };
        Health {
            state,
            last_fetch: seen.last_fetch.map(|fetch| now.saturating_duration_since(fetch)),
            last_error: seen.last_error.clone(),
            reconnects: seen.reconnects,
            blocked: seen.blocked,
        }
    }
}
