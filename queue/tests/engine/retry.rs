//! Retries: how many attempts, what stays the same between them, what shutdown and deadline do to them.

use std::sync::Arc;

use crate::tokio;
use parking_lot::Mutex;
use queue::core::Clock;
use queue::{Context, JobId, Queue, Reason, Report, Retry, Ring, Worker};
use tokio::time::{Instant, sleep};

use crate::common::{Gate, LONG, dead, end, ms, until};

/// Attempt numbers and when they started.
type Starts = Arc<Mutex<Vec<(u32, Instant)>>>;

/// A queue of one slot whose job fails its first `failures` attempts, and its attempts.
fn failing(retry: Retry, failures: u32) -> (Queue<Ring<u32>>, Starts) {
    failing_by(Queue::with_worker(Ring::new()).retry(retry), failures)
}

fn failing_by(builder: queue::Builder<Ring<u32>>, failures: u32) -> (Queue<Ring<u32>>, Starts) {
    let starts = Starts::default();
    let notes = starts.clone();
    let handler = move |_: u32, cx: Context| {
        notes.lock().push((cx.attempt(), Instant::now()));
        let fails = cx.attempt() <= failures;
        async move { if fails { Err("not yet") } else { Ok(()) } }
    };
    (builder.slots(1).start(handler).unwrap(), starts)
}

/// The attempt numbers.
fn attempts(starts: &Starts) -> Vec<u32> {
    starts.lock().iter().map(|(attempt, _)| *attempt).collect()
}

/// E-43
#[tokio::test(start_paused = true)]
async fn two_failures_and_a_success_are_three_attempts() {
    for retry in [Retry::exponential(5), Retry::exponential(5).inline()] {
        let (queue, starts) = failing(retry, 2);
        queue.enqueue(1).await.unwrap();
        sleep(LONG).await;
        assert_eq!(attempts(&starts), [1, 2, 3]);
        let stats = queue.stats();
        assert_eq!((stats.done, stats.dead, stats.failed, stats.started), (1, 0, 2, 3));
        drop(end(&queue).await);
    }
}

/// E-43: an attempt is counted when its handler starts, before it waits for anything.
#[tokio::test(start_paused = true)]
async fn an_attempt_counts_from_before_its_handler() {
    let itself: Arc<Mutex<Option<Queue<Ring<u32>>>>> = Arc::default();
    let counts = Arc::new(Mutex::new(Vec::new()));
    let (of, notes) = (itself.clone(), counts.clone());
    let handler = move |_: u32| {
        notes.lock().push(of.lock().as_ref().map(|queue| queue.stats().started));
        async { Err::<(), _>("no") }
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(Retry::fixed(2, ms(1))).start(handler).unwrap();
    *itself.lock() = Some(queue.clone());
    queue.enqueue(1).await.unwrap();
    sleep(ms(100)).await;
    assert_eq!(*counts.lock(), [Some(1), Some(2), Some(3)]);
    *itself.lock() = None;
}

/// E-44
#[tokio::test(start_paused = true)]
async fn n_retries_are_n_and_one_attempts() {
    for retries in [0, 1, 2, 7] {
        for retry in [Retry::fixed(retries, ms(10)), Retry::fixed(retries, ms(10)).inline()] {
            let (queue, starts) = failing(retry, u32::MAX);
            queue.enqueue(1).await.unwrap();
            sleep(LONG).await;
            assert_eq!(attempts(&starts), (1..=retries + 1).collect::<Vec<_>>());
            assert_eq!(queue.stats().dead, 1);
            assert_eq!(dead(&queue).await[0].cause.reason, Reason::AttemptsExhausted);
            drop(end(&queue).await);
        }
    }
    let (queue, starts) = failing(Retry::none(), u32::MAX);
    queue.enqueue(1).await.unwrap();
    sleep(LONG).await;
    assert_eq!(attempts(&starts), [1]);
}

/// E-53
#[tokio::test(start_paused = true)]
async fn without_a_word_on_retries_a_job_that_always_fails_ends() {
    let (queue, starts) = failing_by(Queue::with_worker(Ring::new()), u32::MAX);
    queue.enqueue(1).await.unwrap();
    // The longest waits that jitter can draw: 100 + 200 + 400 + 800 + 1,600 ms.
    sleep(ms(3_100 + 5)).await;
    assert_eq!((attempts(&starts), queue.stats().dead), ((1..=6).collect(), 1));
    assert_eq!(dead(&queue).await[0].cause.reason, Reason::AttemptsExhausted);
    sleep(LONG).await;
    assert_eq!(starts.lock().len(), 6);
    let moved = Queue::with_worker(Ring::once()).slots(1).start(async |_: u32| Err::<(), _>("no")).unwrap();
    moved.enqueue(1).await.unwrap();
    sleep(LONG).await;
    assert_eq!((moved.stats().started, moved.stats().dead), (1, 1));
    let guide = include_str!("../../src/guide.rs");
    assert!(guide.contains("| 5 retries; none where the worker keeps no copy |"), "the default is in the docs");
}

/// Waits until a job waits for its retry, then shuts down with an hour to go.
async fn cut(queue: &Queue<Ring<u32>>, waits: impl Fn(&queue::Stats) -> bool) -> Report<u32> {
    until(|| waits(&queue.stats())).await;
    let now = Instant::now();
    let report = end(queue).await;
    assert_eq!(Instant::now(), now, "the wait is cut at once");
    report
}

/// E-49
#[tokio::test(start_paused = true)]
async fn shutdown_cuts_a_retry_wait_of_either_kind() {
    for inline in [false, true] {
        let retry = Retry::fixed(5, ms(60_000));
        let (queue, starts) = failing(if inline { retry.inline() } else { retry }, u32::MAX);
        let id = queue.enqueue(1).await.unwrap();
        sleep(ms(60_001)).await;
        let report = cut(&queue, |stats| stats.failed == 2).await;
        sleep(LONG).await;
        assert_eq!(attempts(&starts), [1, 2]);
        let stats = report.stats();
        assert_eq!((stats.dead, stats.returned, stats.cancelled, stats.running), (0, 1, 0, 0), "inline {inline}");
        let unrun = report.take_unrun().remove(0);
        assert_eq!((unrun.id, unrun.attempts, unrun.job.unwrap()), (id, 2, 1));
    }
}

/// E-49: nor does one start that failed after the shutdown had begun.
#[tokio::test(start_paused = true)]
async fn a_failure_during_shutdown_is_not_tried_again() {
    for inline in [false, true] {
        let gate = Gate::new();
        let pass = gate.clone();
        let handler = move |_: u32| {
            let pass = pass.clone();
            async move {
                pass.pass().await;
                Err::<(), _>("no")
            }
        };
        let retry = if inline { Retry::fixed(5, ms(0)).inline() } else { Retry::fixed(5, ms(0)) };
        let queue = Queue::with_worker(Ring::new()).slots(1).retry(retry).start(handler).unwrap();
        queue.enqueue(1).await.unwrap();
        until(|| queue.stats().running == 1).await;
        let ending = tokio::spawn({
            let queue = queue.clone();
            async move { end(&queue).await }
        });
        crate::common::settle_down().await;
        gate.open(100);
        let report = ending.await.unwrap();
        assert_eq!((report.stats().started, report.stats().returned, report.stats().dead), (1, 1, 0));
        assert_eq!(report.take_unrun()[0].attempts, 1);
    }
}

/// E-50
#[tokio::test(start_paused = true)]
async fn no_attempt_starts_after_the_deadline() {
    for inline in [false, true] {
        let retry = Retry::fixed(5, ms(1_500));
        let builder = Queue::with_worker(Ring::new()).deadline(ms(1_000));
        let (queue, starts) = failing_by(builder.retry(if inline { retry.inline() } else { retry }), u32::MAX);
        queue.enqueue(1).await.unwrap();
        sleep(ms(1_000)).await;
        assert_eq!(queue.stats().dead, 1);
        let letter = dead(&queue).await.remove(0);
        assert_eq!((letter.cause.reason, &*letter.cause.error), (Reason::Deadline, "not yet"));
        sleep(LONG).await;
        assert_eq!(attempts(&starts), [1]);
    }
}

/// E-50: the last retry that is due in time still runs.
#[tokio::test(start_paused = true)]
async fn retries_within_the_deadline_run() {
    let builder = Queue::with_worker(Ring::new()).retry(Retry::fixed(9, ms(400)));
    let (queue, starts) = failing_by(builder, u32::MAX);
    queue.job(1).deadline(ms(1_000)).enqueue().await.unwrap();
    sleep(ms(1_000)).await;
    assert_eq!(queue.stats().dead, 1);
    assert_eq!(dead(&queue).await[0].cause.reason, Reason::Deadline);
    assert_eq!(attempts(&starts), [1, 2, 3]);
}

/// What an attempt sees of its job.
#[derive(Debug, Clone, PartialEq)]
struct Sight(JobId, String, Vec<u8>);

/// E-51
#[tokio::test(start_paused = true)]
async fn a_retry_is_the_same_job() {
    for inline in [false, true] {
        let sights = Arc::new(Mutex::new(Vec::new()));
        let notes = sights.clone();
        let handler = move |job: String, cx: Context| {
            notes.lock().push((cx.attempt(), Sight(cx.id(), job, cx.header("tenant").unwrap().to_vec())));
            async { Err::<(), _>("no") }
        };
        let retry = Retry::fixed(2, ms(2_000));
        let retry = if inline { retry.inline() } else { retry };
        let queue = Queue::with_worker(Ring::new()).slots(1).retry(retry).start(handler).unwrap();
        sleep(ms(3_000)).await;
        let enqueued = queue.worker().clock().stamp();
        let value = vec![0xff, b'n'];
        let id = queue.job("job".to_owned()).header("tenant", value.clone()).enqueue().await.unwrap();
        sleep(ms(10_000)).await;
        let expected = Sight(id, "job".to_owned(), value.clone());
        assert_eq!(*sights.lock(), [1, 2, 3].map(|attempt| (attempt, expected.clone())));
        let letter = dead(&queue).await.remove(0);
        assert_eq!((letter.meta.id, letter.meta.attempt, letter.meta.enqueued), (id, 3, enqueued));
        assert_eq!(letter.meta.extra.as_ref().unwrap().headers.get("tenant"), Some(&*value));
        assert_eq!(letter.decode().unwrap().as_deref(), Some("job"));
        assert!(queue.worker().clock().age(enqueued) >= ms(10_000) - Clock::TICK);
        drop(end(&queue).await);
    }
}
