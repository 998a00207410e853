//! Handlers that block their thread and ignore that their time is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crate::tokio;
use parking_lot::Mutex;
use queue::{CancelReason, Context, DeadLetters, Page, Queue, Retry, Ring, blocking};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{advance, sleep};
use tracing::level_filters::LevelFilter;

use crate::common::{Log, end, ms, settle_down, until};

/// How long a blocking handler waits for its test, in real time.
const PATIENCE: Duration = Duration::from_secs(60);

/// A queue of one slot whose handler blocks until it is released, deaf to everything else.
struct Deaf {
    queue: Queue<Ring<u32>>,
    entered: UnboundedReceiver<u32>,
    release: mpsc::Sender<()>,
    peak: Arc<AtomicUsize>,
}

fn deaf(retry: Retry) -> Deaf {
    let (enter, entered) = unbounded_channel();
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let (running, peak) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let most = peak.clone();
    let handler = blocking(move |job: u32| -> Result<(), String> {
        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        enter.send(job).unwrap();
        released.lock().recv_timeout(PATIENCE).unwrap();
        running.fetch_sub(1, Ordering::SeqCst);
        if job == 99 { Err("too late to matter".to_owned()) } else { Ok(()) }
    });
    let builder = Queue::with_worker(Ring::new()).slots(1).timeout(ms(50)).retry(retry);
    Deaf { queue: builder.start(handler).unwrap(), entered, release, peak }
}

/// E-57, E-58
#[tokio::test(start_paused = true)]
async fn a_deaf_blocking_job_keeps_its_slot_and_times_out_once() {
    let (log, _guard) = Log::listen(LevelFilter::WARN);
    let mut deaf = deaf(Retry::none());
    deaf.queue.enqueue_many(0..10).await.unwrap();
    for job in 0..10 {
        assert_eq!(deaf.entered.recv().await, Some(job));
        let turn = u64::from(job);
        advance(ms(49)).await;
        settle_down().await;
        assert_eq!(deaf.queue.stats().timed_out, turn);
        advance(ms(6)).await;
        until(|| deaf.queue.stats().timed_out == turn + 1).await;
        settle_down().await;
        let stats = deaf.queue.stats();
        assert_eq!((stats.dead, stats.overdue, stats.late, stats.started), (turn + 1, 1, turn, turn + 1));
        assert!(deaf.entered.try_recv().is_err(), "the slot is still taken");
        advance(ms(500)).await;
        settle_down().await;
        assert_eq!(deaf.queue.stats(), stats, "the slot waits, and nothing is counted twice");
        deaf.release.send(()).unwrap();
        until(|| deaf.queue.stats().late == turn + 1).await;
    }
    assert_eq!(deaf.peak.load(Ordering::SeqCst), 1);
    let report = end(&deaf.queue).await;
    let stats = report.stats();
    assert_eq!((stats.timed_out, stats.dead, stats.late), (10, 10, 10));
    assert_eq!((stats.done, stats.ok, stats.overdue), (0, 0, 0), "a late result settles nothing");
    assert_eq!(log.lines("its result changes nothing").len(), 10);
}

/// E-58: with a retry the next attempt is on its way before the first has returned, and both results do not meet.
#[tokio::test(start_paused = true)]
async fn a_late_error_spends_no_attempt() {
    let mut deaf = deaf(Retry::fixed(1, ms(0)));
    deaf.queue.enqueue(99).await.unwrap();
    for attempt in 1..=2 {
        assert_eq!(deaf.entered.recv().await, Some(99));
        advance(ms(56)).await;
        until(|| deaf.queue.stats().timed_out == attempt).await;
        deaf.release.send(()).unwrap();
        until(|| deaf.queue.stats().late == attempt).await;
    }
    until(|| deaf.queue.stats().dead == 1).await;
    let report = end(&deaf.queue).await;
    let stats = report.stats();
    assert_eq!((stats.timed_out, stats.failed, stats.started, stats.late), (2, 0, 2, 2));
    let letters = deaf.queue.worker().dead_letters(Page::first(9)).await.unwrap();
    assert_eq!((letters.len(), &*letters[0].cause.error, letters[0].meta.attempt), (1, "timeout", 2));
}

/// One that listens ends at once, and what it says counts.
#[tokio::test(start_paused = true)]
async fn a_blocking_job_that_listens_frees_its_slot() {
    let handler = blocking(|_: u32, cx: Context| {
        let mut turns = 0;
        while cx.cancel_reason().is_none() {
            std::thread::yield_now();
            turns += 1;
            assert!(turns < 1_000_000_000_u64);
        }
        assert_eq!(cx.cancel_reason(), Some(CancelReason::Timeout));
    });
    let builder = Queue::with_worker(Ring::new()).slots(1).timeout(ms(50)).retry(Retry::none());
    let queue = builder.start(handler).unwrap();
    queue.enqueue(1).await.unwrap();
    until(|| queue.stats().running == 1).await;
    settle_down().await;
    advance(ms(56)).await;
    until(|| queue.stats().timed_out == 1).await;
    until(|| queue.stats().late == 1).await;
    sleep(ms(1)).await;
    assert_eq!((queue.stats().overdue, queue.stats().panicked), (0, 0));
    drop(end(&queue).await);
}
