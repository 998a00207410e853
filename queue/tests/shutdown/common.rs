//! A worker that behaves like a broker: its jobs outlive it, a verdict needs a wait, and it can be told to fail.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use queue::core::{
    Capabilities, Clock, DeliveryOf, Demand, Durability, Entry, EventLog, Events, Feature, Refusal, RequestError, Room,
    SettlingOf, Tally, Tier, Verdict, WorkerError,
};
use queue::{Enqueuer, Queue, Retries, Ring, Stats, Worker};
use tokio::sync::Notify;
use tokio::time::Instant;

/// What the broker keeps when its clients are gone.
pub(crate) type Server<J> = Arc<Ring<J>>;

/// What a client does wrong from now on.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) request_hangs: AtomicBool,
    pub(crate) settle_hangs: AtomicBool,
    pub(crate) shutdown_hangs: AtomicBool,
    pub(crate) shutdown_fails: AtomicBool,
    pub(crate) shutdown_panics: AtomicBool,
}

/// One client of a server.
#[derive(Debug)]
pub(crate) struct Broker<J: Clone + Send + 'static> {
    server: Server<J>,
    can: Capabilities,
    closed: AtomicBool,
    changed: Notify,
    accepted: AtomicU64,
    pub(crate) faults: Arc<Faults>,
    /// The verdicts, in order.
    pub(crate) verdicts: Arc<parking_lot::Mutex<Vec<Verdict>>>,
    /// What it was asked, in order.
    pub(crate) journal: Journal,
    events: Option<EventLog>,
}

/// What happened, in order.
pub(crate) type Journal = Arc<parking_lot::Mutex<Vec<&'static str>>>;

/// A request that waits.
struct Asking<'a>(&'a Journal);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.lock().push("request over");
    }
}

impl<J: Clone + Send + 'static> Broker<J> {
    pub(crate) fn new(server: &Server<J>) -> Self {
        Self {
            server: server.clone(),
            can: Capabilities::new("test broker", Durability::Broker)
                .with(Feature::Retries, Tier::Native)
                .with(Feature::JobOptions, Tier::Native),
            closed: AtomicBool::new(false),
            changed: Notify::new(),
            accepted: AtomicU64::new(0),
            faults: Arc::default(),
            verdicts: Arc::default(),
            journal: Journal::default(),
            events: None,
        }
    }

    /// It tells what happens to its connection.
    pub(crate) fn with_events(mut self, events: &EventLog) -> Self {
        self.events = Some(events.clone());
        self
    }

    /// It hands out so many at once.
    pub(crate) fn with_share(mut self, share: usize) -> Self {
        self.can = self.can.with_share(share);
        self
    }
}

impl<J: Clone + Send + 'static> Retries for Broker<J> {}

async fn hang_if(fault: &AtomicBool) {
    if fault.load(Ordering::SeqCst) {
        pending::<()>().await;
    }
}

impl<J: Clone + Send + 'static> Worker for Broker<J> {
    type Job = J;
    type Payload = <Ring<J> as Worker>::Payload;
    type Receipt = ();

    async fn queue(&self, jobs: &mut [Entry<J>], room: Room) -> Result<(), WorkerError> {
        tokio::task::yield_now().await;
        if self.closed.load(Ordering::SeqCst) {
            jobs.iter_mut().for_each(|entry| entry.refuse(Refusal::Closed));
            return Ok(());
        }
        self.server.queue(jobs, room).await?;
        self.accepted.fetch_add(jobs.len() as u64, Ordering::SeqCst);
        Ok(())
    }

    fn demand(&self, _: Demand) {}

    async fn request(&self, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), RequestError> {
        self.journal.lock().push("request");
        let _asking = Asking(&self.journal);
        loop {
            hang_if(&self.faults.request_hangs).await;
            let changed = self.changed.notified();
            if self.closed.load(Ordering::SeqCst) && self.server.is_empty() {
                return Err(RequestError::Closed);
            }
            tokio::select! {
                biased;
                () = changed => {}
                answer = self.server.request(max, into) => return answer,
            }
        }
    }

    async fn settle(&self, batch: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        hang_if(&self.faults.settle_hangs).await;
        tokio::task::yield_now().await;
        for (_, verdict) in batch.iter().filter_map(|settling| settling.asked()) {
            self.journal.lock().push(match verdict {
                Verdict::Ack => "ack",
                Verdict::Return { .. } => "return",
                Verdict::Retry { .. } => "retry",
                Verdict::Dead { .. } => "dead",
            });
            self.verdicts.lock().push(verdict.clone());
        }
        self.server.settle(batch).await
    }

    fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    async fn shutdown(&self, _: Instant, _: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), WorkerError> {
        self.close();
        self.journal.lock().push("end");
        hang_if(&self.faults.shutdown_hangs).await;
        assert!(!self.faults.shutdown_panics.load(Ordering::SeqCst), "the worker's own panic");
        if self.faults.shutdown_fails.load(Ordering::SeqCst) {
            return Err(WorkerError::fatal("the connection was gone"));
        }
        Ok(())
    }

    fn capabilities(&self) -> &Capabilities {
        &self.can
    }

    fn clock(&self) -> &Clock {
        self.server.clock()
    }

    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        tally.accepted = self.accepted.load(Ordering::SeqCst);
        tally
    }

    fn events(&self) -> Events {
        self.events.as_ref().map_or_else(Events::none, EventLog::events)
    }
}

/// `accepted = queued + held + running + waiting + done + dead + returned + cancelled`.
#[track_caller]
pub(crate) fn assert_ring_adds_up(stats: &Stats) {
    let parts = stats.queued + stats.held + stats.running + stats.waiting;
    assert_eq!(stats.accepted, parts + stats.done + stats.dead + stats.returned + stats.cancelled, "{stats:?}");
}

/// `received = held + running + done + dead + retried + returned + cancelled + lost`.
#[track_caller]
pub(crate) fn assert_broker_adds_up(stats: &Stats) {
    let ended = stats.done + stats.dead + stats.retried + stats.returned + stats.cancelled + stats.lost;
    assert_eq!(stats.received, stats.held + stats.running + ended, "{stats:?}");
}

/// `started = running + ok + failed + panicked + timed_out + cut_short`, where no job waits in its slot.
#[track_caller]
pub(crate) fn assert_attempts_add_up(stats: &Stats) {
    let ended = stats.ok + stats.failed + stats.panicked + stats.timed_out + stats.cut_short;
    assert_eq!(stats.started, stats.running + ended, "{stats:?}");
}

/// Waits on a paused clock for the queue's last tasks to end.
pub(crate) async fn assert_tasks_gone(metrics: &tokio::runtime::RuntimeMetrics, before: usize) {
    tokio::time::sleep(Clock::TICK * 2).await;
    assert_eq!(metrics.num_alive_tasks(), before);
}

/// Lets every other task run until `done`; a paused clock stands still meanwhile. Fails after 30 s of the real one: how
/// often other threads come to run says nothing.
pub(crate) async fn settle_down(mut done: impl FnMut() -> bool) {
    let start = SystemTime::now();
    while start.elapsed().is_ok_and(|waited| waited < Duration::from_secs(30)) {
        for _ in 0..1_000 {
            if done() {
                return;
            }
            tokio::task::yield_now().await;
        }
    }
    panic!("it did not come to pass");
}

/// Queues so many numbers, from 0 on.
pub(crate) async fn fill<W: Worker<Job = u64>>(queue: &Queue<W>, jobs: u64) {
    for job in 0..jobs {
        queue.enqueue(job).await.unwrap();
    }
}

/// Queues before the start, so that the first slot finds them all.
pub(crate) async fn fill_early(enqueuer: &Enqueuer<u64>, jobs: u64) {
    for job in 0..jobs {
        enqueuer.enqueue(job).await.unwrap();
    }
}
