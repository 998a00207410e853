//! The worker: one consumer of one queue over one connection.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use queue_core::{
    Capabilities, Clock, DeliveryOf, Demand, DynWorker, Encoded, Entry, Event, EventLog, Events, Facets, Feature,
    IdSource, JobId, RequestError, Room, SettlingOf, Tally, Worker, WorkerError,
};
use tokio::time::Instant;

use super::line::Line;
use super::link::Link;
use super::receipt::Claim;
use super::server::Server;
use crate::broken::Defect;
use crate::{AnyCodec, Job};

/// A consumer of the [`Reference`](super::Reference) broker.
pub struct Consumer {
    pub(super) server: Arc<Server>,
    pub(super) line: Arc<Line>,
    pub(super) link: Arc<Link>,
    /// Tells it apart from other consumers of the queue.
    pub(super) number: u64,
    pub(super) codec: AnyCodec,
    pub(super) capabilities: Capabilities,
    pub(super) clock: Clock,
    pub(super) ids: Mutex<IdSource>,
    /// Counts what it published, for producers that number their jobs from 1.
    pub(super) published: AtomicU64,
    pub(super) events: EventLog,
    /// Fetched and not handed out, where it fetches ahead.
    pub(super) ahead: Mutex<VecDeque<DeliveryOf<Self>>>,
    pub(super) paused: AtomicBool,
    /// Counts its requests.
    pub(super) requests: AtomicU64,
    closed: AtomicBool,
    ended: AtomicBool,
    /// It came before its broker and gave up.
    pub(super) gave_up: bool,
    /// Whether its erased twin hides what it implements beside the contract.
    forgetful: bool,
}

impl fmt::Debug for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Consumer {
    pub(super) fn new(server: Arc<Server>, link: Arc<Link>, name: &str, codec: AnyCodec, can: Capabilities) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let line = server.line(name);
        link.join();
        let gave_up = server.weather.lock().away && server.has(Defect::GivesUpWhenAway);
        Self {
            line,
            link,
            // Relaxed: only the number matters.
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            codec,
            capabilities: can,
            clock: Clock::new(),
            ids: Mutex::default(),
            published: AtomicU64::new(0),
            events: EventLog::new(64),
            ahead: Mutex::default(),
            paused: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            gave_up,
            forgetful: false,
            server,
        }
    }

    pub(super) fn has(&self, defect: Defect) -> bool {
        self.server.has(defect)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Whether the broker hears it now.
    pub(super) fn is_heard(&self) -> bool {
        !self.link.is_silent() && !self.server.weather.lock().away
    }

    /// Something that takes jobs, and nobody is there.
    #[expect(clippy::disallowed_methods, reason = "a planted leak")]
    fn leave_a_ghost(&self) {
        let line = self.line.clone();
        drop(tokio::spawn(async move {
            let mut taken = VecDeque::new();
            while line.store.request(1, &mut taken).await.is_ok() {}
        }));
    }

    pub(super) fn away(&self) -> WorkerError {
        self.events.note(Event::Disconnected("the broker is away".into()));
        WorkerError::reconnect("the broker is away")
    }
}

impl Worker for Consumer {
    type Job = Job;
    type Payload = Encoded<Job, AnyCodec>;
    type Receipt = Claim;

    async fn queue(&self, jobs: &mut [Entry<Job>], _: Room) -> Result<(), WorkerError> {
        assert!(!self.has(Defect::PanicsInEveryCall), "a planted panic");
        self.publish(jobs).await
    }

    fn demand(&self, _: Demand) {
        assert!(!self.has(Defect::PanicsInEveryCall), "a planted panic");
    }

    async fn request(&self, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), RequestError> {
        assert!(!self.has(Defect::PanicsInEveryCall), "a planted panic");
        self.fetch(max, into).await
    }

    async fn settle(&self, batch: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        assert!(!self.has(Defect::PanicsInEveryCall), "a planted panic");
        self.tell(batch).await
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        if !self.has(Defect::CloseWakesNobody) {
            self.server.changed.notify_waiters();
        }
        if self.has(Defect::OneCloseClosesAll) {
            self.link.freeze();
        }
    }

    async fn shutdown(&self, _: Instant, _: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), WorkerError> {
        self.close();
        if self.has(Defect::HangsInShutdown) {
            std::future::pending::<()>().await;
        }
        let again = self.ended.swap(true, Ordering::AcqRel);
        if again && self.has(Defect::SecondShutdownFails) {
            return Err(WorkerError::fatal("the connection is closed"));
        }
        if !again {
            self.ahead.lock().clear();
            if self.published.load(Ordering::Relaxed) > 0 {
                self.line.left.store(true, Ordering::Release);
            }
            self.line.abandon(&self.server, self.number);
            self.server.changed.notify_waiters();
            if self.has(Defect::GhostConsumers) && !self.line.consumed.load(Ordering::Acquire) {
                self.leave_a_ghost();
            }
        }
        Ok(())
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        if !self.has(Defect::TallyStandsStill) {
            // Relaxed: a count of its own.
            tally.accepted = self.published.load(Ordering::Relaxed);
        }
        tally
    }

    fn events(&self) -> Events {
        self.events.events()
    }

    fn facets(&self) -> Facets<'_, Self> {
        if self.forgetful {
            return Facets::none();
        }
        let facets = Facets::none().inspects(self).dead_letters(self).pauses(self);
        if self.capabilities.has(Feature::Cancels) { facets.cancels(self) } else { facets }
    }

    fn boxed(mut self) -> DynWorker<Job> {
        self.forgetful = self.has(Defect::BoxedForgetsFacets);
        DynWorker::new(self)
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        self.link.leave();
        // Deliveries that were fetched ahead are given up by their own drops.
        self.ahead.get_mut().clear();
        if !*self.ended.get_mut() {
            self.line.abandon(&self.server, self.number);
        }
        self.server.changed.notify_waiters();
    }
}

/// The id of a producer that numbers its jobs from 1.
pub(super) fn first_number(published: &AtomicU64) -> JobId {
    // Relaxed: only the number matters.
    JobId::from(published.load(Ordering::Relaxed) + 1)
}
