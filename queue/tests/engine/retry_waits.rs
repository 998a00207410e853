//! The waits between attempts: how long, with what jitter, and who keeps the slot meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::tokio;
use parking_lot::Mutex;
use queue::{Backoff, Queue, Retry, Ring};
use tokio::time::{Instant, advance, sleep};

use crate::common::{allocations_here, end, ms, settle_down, until};

/// Jobs that fail always, and when each attempt started.
type Starts = Arc<Mutex<Vec<(u32, Instant)>>>;

fn failing(slots: usize, retry: Retry) -> (Queue<Ring<u32>>, Starts) {
    let starts = Starts::default();
    let notes = starts.clone();
    let handler = move |job: u32| {
        notes.lock().push((job, Instant::now()));
        std::future::ready(Err::<(), _>("no"))
    };
    (Queue::with_worker(Ring::new()).slots(slots).retry(retry).start(handler).unwrap(), starts)
}

/// E-45
#[tokio::test(start_paused = true)]
async fn exponential_waits_double_up_to_their_maximum() {
    let wanted = [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000];
    let retry = Retry::exponential(9).without_jitter();
    for retry in [retry, retry.inline()] {
        let (queue, starts) = failing(1, retry);
        queue.enqueue(1).await.unwrap();
        sleep(ms(60_000)).await;
        let starts: Vec<_> = starts.lock().iter().map(|(_, at)| *at).collect();
        let waits: Vec<_> = starts.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect();
        assert_eq!(waits, wanted);
        drop(end(&queue).await);
    }
}

/// E-45
#[test]
fn no_attempt_overflows_its_wait() {
    let backoff = Backoff::exponential().base(ms(100)).factor(2.0).max(ms(10_000)).without_jitter();
    for attempt in [8, 1_000, 100_000, u32::MAX] {
        assert_eq!(backoff.wait(attempt), ms(10_000));
    }
    let longest = Backoff::exponential().factor(f64::MAX).max(Duration::MAX).without_jitter();
    assert_eq!(longest.wait(u32::MAX), Duration::MAX);
    let none = Backoff::exponential().base(Duration::ZERO).without_jitter();
    assert_eq!([1, 2, 1_000, 2_000, u32::MAX].map(|attempt| none.wait(attempt)), [Duration::ZERO; 5]);
}

/// E-46
#[tokio::test(start_paused = true)]
async fn jitter_is_full_and_on_from_the_first_retry() {
    let (queue, starts) = failing(1, Retry::exponential(1).base(ms(100)));
    let start = Instant::now();
    queue.enqueue_many(0..1_000).await.unwrap();
    sleep(ms(1_000)).await;
    assert_eq!(queue.stats().dead, 1_000);
    let starts = starts.lock();
    let (first, second) = starts.split_at(1_000);
    assert!(first.iter().all(|(_, at)| *at == start));
    // A timer rounds up to the next millisecond.
    let waits: Vec<_> = second.iter().map(|(_, at)| (*at - start).as_millis()).collect();
    assert!(waits.iter().all(|wait| *wait <= 100));
    let mean = waits.iter().sum::<u128>() / 1_000;
    assert!((40..=60).contains(&mean), "{mean}");
    assert!(waits.iter().any(|wait| *wait < 20) && waits.iter().any(|wait| *wait > 80));
}

/// E-52: of the queue and of a job, at the worker and in the slot.
#[tokio::test(start_paused = true)]
async fn a_fixed_wait_is_exact() {
    for retry in [Retry::fixed(9, ms(250)), Retry::fixed(9, ms(250)).inline()] {
        let (queue, starts) = failing(1, retry);
        queue.enqueue(1).await.unwrap();
        sleep(ms(60_000)).await;
        queue.job(2).backoff(Backoff::fixed(ms(1))).enqueue().await.unwrap();
        sleep(ms(60_000)).await;
        for (job, wait) in [(1, ms(250)), (2, ms(1))] {
            let starts = starts.lock();
            let starts: Vec<_> = starts.iter().filter(|(other, _)| *other == job).map(|(_, at)| *at).collect();
            assert_eq!(starts.len(), 10);
            assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == wait), "{starts:?}");
        }
        drop(end(&queue).await);
    }
}

/// What happens in a queue of one slot where job 1 fails once and job 2 does not.
async fn one_fails_one_does_not(retry: Retry) -> (Queue<Ring<u32>>, Starts) {
    let starts = Starts::default();
    let notes = starts.clone();
    let handler = move |job: u32| {
        let mut starts = notes.lock();
        let fails = job == 1 && starts.iter().all(|(other, _)| *other != 1);
        starts.push((job, Instant::now()));
        async move { if fails { Err("once") } else { Ok(()) } }
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(retry).start(handler).unwrap();
    queue.enqueue_many([1, 2]).await.unwrap();
    (queue, starts)
}

/// E-47
#[tokio::test(start_paused = true)]
async fn a_requeued_retry_frees_its_slot() {
    let start = Instant::now();
    let (queue, starts) = one_fails_one_does_not(Retry::fixed(1, ms(10_000))).await;
    until(|| queue.stats().done == 1).await;
    assert_eq!(*starts.lock(), [(1, start), (2, start)]);
    for _ in 0..9 {
        let stats = queue.stats();
        assert_eq!((stats.waiting, stats.running, stats.held, stats.queued), (1, 0, 0, 0));
        sleep(ms(1_000)).await;
    }
    sleep(ms(2_000)).await;
    assert_eq!(starts.lock()[2], (1, start + ms(10_000)));
    assert_eq!(queue.stats().done, 2);
}

/// E-48
#[tokio::test(start_paused = true)]
async fn an_inline_retry_keeps_its_slot() {
    let start = Instant::now();
    let (queue, starts) = one_fails_one_does_not(Retry::fixed(1, ms(10_000)).inline()).await;
    until(|| queue.stats().failed == 1).await;
    for _ in 0..9 {
        let stats = queue.stats();
        assert_eq!((stats.waiting, stats.running, stats.held, stats.queued), (0, 1, 0, 1));
        sleep(ms(1_000)).await;
    }
    sleep(ms(2_000)).await;
    let again = start + ms(10_000);
    assert_eq!(*starts.lock(), [(1, start), (1, again), (2, again)]);
    assert_eq!(queue.stats().done, 2);
}

/// E-48
#[tokio::test(start_paused = true)]
async fn an_inline_retry_allocates_nothing() {
    let counts: Arc<[AtomicUsize; 20]> = Arc::new(std::array::from_fn(|_| AtomicUsize::new(0)));
    let turns = Arc::new(AtomicUsize::new(0));
    let (notes, turn) = (counts.clone(), turns.clone());
    let handler = move |_: [u64; 4]| {
        if let Some(count) = notes.get(turn.fetch_add(1, Ordering::Relaxed)) {
            count.store(allocations_here(), Ordering::Relaxed);
        }
        std::future::ready(Err::<(), _>("no"))
    };
    let retry = Retry::exponential(19).inline();
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(retry).start(handler).unwrap();
    queue.enqueue([1; 4]).await.unwrap();
    until(|| turns.load(Ordering::Relaxed) == 1).await;
    // Only the slot runs from here on: this task sleeps.
    sleep(ms(600_000)).await;
    assert_eq!(queue.stats().dead, 1);
    let counts: Vec<_> = counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
    // The runtime's timers may make their room at the first wait.
    assert!(counts[2..].iter().all(|count| *count == counts[2]), "{counts:?}");
}

/// A job that waits in its slot keeps no other job waiting: the rest of its batch goes to free slots.
#[tokio::test(start_paused = true)]
async fn an_inline_wait_holds_no_other_job() {
    let start = Instant::now();
    let starts = Starts::default();
    let notes = starts.clone();
    let handler = move |job: u32| {
        notes.lock().push((job, Instant::now()));
        async move { if job == 1 { Err("no") } else { Ok(()) } }
    };
    let builder = Queue::with_worker(Ring::new()).slots(2).retry(Retry::fixed(1, ms(10_000)).inline());
    let queue = builder.start(handler).unwrap();
    queue.enqueue_many(1..=6).await.unwrap();
    until(|| queue.stats().failed == 1).await;
    settle_down().await;
    assert_eq!((queue.stats().done, queue.stats().running), (5, 1));
    assert_eq!(*starts.lock(), (1..=6).map(|job| (job, start)).collect::<Vec<_>>());
    drop(end(&queue).await);
}

/// No wait is no timer, which would end with the millisecond that has begun: a paused clock stands still.
#[tokio::test(start_paused = true)]
async fn an_inline_retry_without_a_wait_takes_no_time() {
    advance(Duration::from_micros(300)).await;
    let start = Instant::now();
    let (queue, starts) = failing(1, Retry::fixed(1_000, Duration::ZERO).inline());
    queue.enqueue(1).await.unwrap();
    until(|| queue.stats().dead == 1).await;
    assert_eq!(*starts.lock(), [(1, start); 1_001]);
    drop(end(&queue).await);
}

/// A job that fails for ever without a wait leaves the runtime its turns, and a shutdown ends it.
#[tokio::test]
async fn an_inline_retry_without_a_wait_starves_nobody() {
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(Retry::fixed(u32::MAX, Duration::ZERO).inline());
    let queue = queue.start(async |_: u32| Err::<(), _>("no")).unwrap();
    queue.enqueue(1).await.unwrap();
    until(|| queue.stats().failed > 10_000).await;
    let report = queue.shutdown(ms(1_000)).await.unwrap();
    assert_eq!((report.unrun(), report.abandoned()), (1, 0));
}
