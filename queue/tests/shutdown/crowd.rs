//! Many handlers end their own queue at the same moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{assert_attempts_add_up, assert_ring_adds_up, fill, fill_early};
use crate::tokio;
use queue::{Context, Queue, Ring};
use tokio::sync::Barrier;
use tokio::time::{Instant, timeout};

const CROWD: u64 = 64;
const TIME: Duration = Duration::from_millis(100);
/// The deadline and the second that an answer may come after it.
const SOON: Duration = Duration::from_millis(1_100);
const LONG: Duration = Duration::from_secs(30);

#[derive(Clone)]
struct State {
    all: Arc<Barrier>,
    answers: Arc<AtomicU64>,
    /// When the last answer is due.
    within: Duration,
}

impl State {
    fn new(within: Duration) -> Self {
        Self { all: Arc::new(Barrier::new(CROWD as usize)), answers: Arc::default(), within }
    }
}

/// The first ones meet, and then all end the queue and wait for it.
async fn all_wait(job: u64, cx: Context<State>) {
    if job < CROWD {
        cx.state().all.wait().await;
        let start = Instant::now();
        let stats = cx.shutdown_handle().shutdown(TIME).await.unwrap();
        assert!(start.elapsed() <= cx.state().within && stats.running > 0);
        cx.state().answers.fetch_add(1, Ordering::SeqCst);
    }
}

/// The same, but every other one only begins the end.
async fn some_wait(job: u64, cx: Context<State>) {
    if job.is_multiple_of(2) {
        return all_wait(job, cx).await;
    }
    if job < CROWD {
        cx.state().all.wait().await;
        cx.shutdown_handle().begin(TIME);
        cx.state().answers.fetch_add(1, Ordering::SeqCst);
    }
}

/// Each has its answer at the deadline, ends well, and what has not started is in the report.
#[tokio::test(start_paused = true)]
async fn a_crowd_of_handlers_ends_its_queue_and_waits() {
    let state = State::new(SOON);
    let queue = Queue::with_worker(Ring::new()).slots(CROWD as usize).state(state.clone()).start(all_wait).unwrap();
    fill(&queue, 100).await;
    queue.shutdown_handle().begun().await;
    let start = Instant::now();
    let report = queue.shutdown(LONG).await.unwrap();
    assert_eq!(state.answers.load(Ordering::SeqCst), CROWD);
    // This call gave them time: what waited behind them ran.
    assert_eq!((report.stats().done, report.unrun(), start.elapsed()), (100, 0, TIME));
}

#[tokio::test(start_paused = true)]
async fn a_crowd_without_anybody_else_ends_at_its_deadline() {
    let state = State::new(SOON);
    let queue = Queue::with_worker(Ring::new()).slots(CROWD as usize).state(state.clone()).start(all_wait).unwrap();
    fill(&queue, 100).await;
    queue.shutdown_handle().begun().await;
    let start = Instant::now();
    let report = queue.shutdown(TIME).await.unwrap();
    assert_eq!((start.elapsed(), report.is_complete(), report.abandoned()), (TIME, true, 0));
    assert_eq!(state.answers.load(Ordering::SeqCst), CROWD);
    let stats = report.stats();
    // What waited behind them starts where a slot is free before the deadline is acted on.
    assert!(stats.done >= CROWD && stats.panicked == 0, "{stats:?}");
    assert_eq!((stats.done + stats.returned, stats.returned), (100, report.take_unrun().len() as u64));
    assert_ring_adds_up(stats);
    assert_attempts_add_up(stats);
}

#[tokio::test(start_paused = true)]
async fn some_of_a_crowd_wait_and_some_go_on() {
    let state = State::new(SOON);
    let queue = Queue::with_worker(Ring::new()).slots(CROWD as usize).state(state.clone()).start(some_wait).unwrap();
    fill(&queue, 100).await;
    queue.shutdown_handle().begun().await;
    let report = queue.shutdown(TIME).await.unwrap();
    assert_eq!(state.answers.load(Ordering::SeqCst), CROWD);
    assert_eq!((report.is_complete(), report.stats().done, report.unrun()), (true, 100, 0));
}

/// On threads of their own, over and over. All jobs are in before one can end the queue.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_on_threads_loses_no_job() {
    for round in 0..50 {
        let builder = Queue::with_worker(Ring::new()).slots(CROWD as usize).state(State::new(LONG));
        fill_early(&builder.enqueuer(), 100).await;
        let queue = if round % 2 == 0 { builder.start(all_wait) } else { builder.start(some_wait) }.unwrap();
        timeout(LONG, queue.shutdown_handle().begun()).await.unwrap();
        let report = timeout(LONG, queue.shutdown(LONG)).await.unwrap().unwrap();
        let stats = report.stats();
        assert_eq!((stats.accepted, stats.panicked, stats.running), (100, 0, 0), "{stats:?}");
        assert_eq!(stats.done + stats.returned, 100, "{stats:?}");
        assert_eq!(report.take_unrun().len() as u64, stats.returned);
        assert_ring_adds_up(stats);
    }
}
