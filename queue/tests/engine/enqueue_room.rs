//! A full ring: who waits, for how long, who is woken, and what a handler may do in its own queue.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::tokio;
use parking_lot::Mutex;
use queue::{EnqueueError, Enqueuer, Queue, Retry, Ring, Worker};
use tokio::time::Instant;

use crate::common::{Gate, LONG, end, ms, settle_down, until};

fn ring(capacity: usize) -> Ring<u32> {
    Ring::builder().capacity(capacity).build().unwrap()
}

/// Takes up to `max` jobs out, as a slot does.
async fn pop<W: Worker>(queue: &Queue<W>, max: usize) -> usize {
    let mut into = VecDeque::new();
    queue.worker().request(max, &mut into).await.unwrap();
    into.len()
}

/// E-12
#[tokio::test(start_paused = true)]
async fn a_full_ring_lets_enqueue_wait_and_try_enqueue_not() {
    let queue = Queue::with_worker(ring(2)).producer().unwrap();
    let now = Instant::now();
    queue.enqueue(1).await.unwrap();
    queue.try_enqueue(2).await.unwrap();
    assert!(matches!(queue.try_enqueue(3).await, Err(EnqueueError::Full(3))));
    assert!(matches!(queue.job(3).priority(9).try_enqueue().await, Err(EnqueueError::Full(3))));
    assert!(matches!(queue.enqueuer().try_enqueue(3).await, Err(EnqueueError::Full(3))));
    let waiting = tokio::spawn({
        let queue = queue.clone();
        async move { queue.enqueue(4).await.unwrap() }
    });
    settle_down().await;
    assert!(!waiting.is_finished());
    assert_eq!(queue.stats().accepted, 2);
    assert_eq!(pop(&queue, 1).await, 1);
    waiting.await.unwrap();
    assert_eq!((queue.stats().accepted, queue.stats().queued, Instant::now()), (3, 2, now));
}

/// E-13
#[tokio::test(start_paused = true)]
async fn a_bounded_wait_ends_at_its_bound() {
    let queue = Queue::with_worker(ring(1)).producer().unwrap();
    queue.enqueue(1).await.unwrap();
    let start = Instant::now();
    let answer = queue.job(2).within(ms(50)).enqueue().await;
    assert!(matches!(answer, Err(EnqueueError::Timeout(2))));
    assert_eq!(start.elapsed(), ms(50));
    let answer = queue.enqueuer().job(3).within(ms(50)).enqueue().await;
    assert!(matches!(answer, Err(EnqueueError::Timeout(3))));
    assert_eq!(start.elapsed(), ms(100));
    let stats = queue.stats();
    assert_eq!((stats.accepted, stats.queued, stats.rejected), (1, 1, 2));
}

/// E-14
#[tokio::test(start_paused = true)]
async fn a_bound_of_zero_limits_nothing_but_the_wait() {
    let queue = Queue::with_worker(ring(1)).producer().unwrap();
    let now = Instant::now();
    queue.job(1).within(Duration::ZERO).enqueue().await.unwrap();
    assert!(matches!(queue.job(2).within(Duration::ZERO).enqueue().await, Err(EnqueueError::Full(2))));
    let erased = queue.enqueuer();
    assert!(matches!(erased.job(2).within(Duration::ZERO).enqueue().await, Err(EnqueueError::Full(2))));
    assert_eq!(pop(&queue, 1).await, 1);
    erased.job(3).within(Duration::ZERO).enqueue().await.unwrap();
    assert_eq!(Instant::now(), now);
}

/// E-15: the handler blocks its thread, so its slot keeps the block that it took.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_block_pop_wakes_all_who_then_have_room() {
    let (open, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let first = Arc::new(AtomicUsize::new(0));
    let handler = move |_: u32| {
        if first.fetch_add(1, Ordering::Relaxed) == 0 {
            // The runtime's other tasks leave this thread first.
            tokio::task::block_in_place(|| gate.lock().recv_timeout(Duration::from_secs(90)).unwrap());
        }
        async {}
    };
    let builder = Queue::with_worker(ring(8)).slots(1);
    let enqueuer = builder.enqueuer();
    for job in 0..8 {
        enqueuer.enqueue(job).await.unwrap();
    }
    let waiting: Vec<_> = (8..13)
        .map(|job| {
            let enqueuer = enqueuer.clone();
            tokio::spawn(async move { enqueuer.enqueue(job).await.unwrap() })
        })
        .collect();
    let queue = builder.start(handler).unwrap();
    for waiting in waiting {
        tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap().unwrap();
    }
    assert_eq!((queue.stats().accepted, queue.stats().done), (13, 0));
    open.send(()).unwrap();
    assert_eq!(end(&queue).await.stats().done, 13);
}

/// E-16
#[tokio::test(start_paused = true)]
async fn a_dropped_wait_leaves_nothing_and_passes_its_wake_on() {
    let queue = Queue::with_worker(ring(1)).producer().unwrap();
    queue.enqueue(0).await.unwrap();
    for round in 0..1_000 {
        let wait = |job| {
            let queue = queue.clone();
            tokio::spawn(async move { queue.enqueue(job).await })
        };
        let (first, second) = (wait(1), wait(2));
        settle_down().await;
        let accepted = queue.stats().accepted;
        // In turn: dropped while it waits, and dropped when it was woken and has not looked.
        if round % 2 == 0 {
            first.abort();
            settle_down().await;
            assert_eq!(pop(&queue, 1).await, 1);
        } else {
            assert_eq!(pop(&queue, 1).await, 1);
            first.abort();
        }
        until(|| second.is_finished()).await;
        assert!(second.await.unwrap().is_ok() && first.await.unwrap_err().is_cancelled());
        assert_eq!((queue.stats().accepted, queue.stats().queued), (accepted + 1, 1), "round {round}");
    }
}

/// E-16: one that was never polled.
#[tokio::test(start_paused = true)]
async fn an_enqueue_that_was_never_polled_queues_nothing() {
    let queue = Queue::with_worker(ring(8)).producer().unwrap();
    drop(queue.enqueue(1));
    drop(queue.job(2).delay(ms(1)).enqueue());
    assert_eq!((queue.stats().accepted, queue.worker().len()), (0, 0));
}

/// What the handler of [`own_queue`] found.
#[derive(Default)]
struct Found {
    tried: Option<Result<(), EnqueueError<u32>>>,
    waited: Option<Result<(), EnqueueError<u32>>>,
}

/// A queue of one slot and room for one, whose job 1 enqueues into it twice: first it tries, then it waits.
fn own_queue(timeout: Duration) -> (Queue<Ring<u32>>, Gate, Arc<Mutex<Found>>) {
    let (gate, found) = (Gate::new(), Arc::new(Mutex::new(Found::default())));
    let (pass, notes) = (gate.clone(), found.clone());
    let builder = Queue::with_worker(ring(1)).slots(1).timeout(timeout).retry(Retry::none());
    let own: Enqueuer<u32> = builder.enqueuer();
    let handler = move |job: u32| {
        let (pass, notes, own) = (pass.clone(), notes.clone(), own.clone());
        async move {
            if job == 1 {
                pass.pass().await;
                let tried = own.try_enqueue(3).await.map(drop);
                notes.lock().tried = Some(tried);
                let waited = own.enqueue(4).await.map(drop);
                notes.lock().waited = Some(waited);
            }
        }
    };
    (builder.start(handler).unwrap(), gate, found)
}

/// E-18
#[tokio::test(start_paused = true)]
async fn a_handler_may_wait_in_its_own_queue_until_its_timeout() {
    let (queue, gate, found) = own_queue(ms(100));
    queue.enqueue(1).await.unwrap();
    until(|| queue.stats().running == 1).await;
    queue.enqueue(2).await.unwrap();
    gate.open(1);
    tokio::time::sleep(ms(110)).await;
    assert!(matches!(found.lock().tried, Some(Err(EnqueueError::Full(3)))));
    assert!(found.lock().waited.is_none(), "the wait was dropped");
    let report = end(&queue).await;
    assert_eq!((report.stats().timed_out, report.stats().done, report.stats().accepted), (1, 1, 2));
}

/// E-18: shutdown ends the wait.
#[tokio::test(start_paused = true)]
async fn a_handler_that_waits_in_its_own_queue_does_not_hold_shutdown_up() {
    let (queue, gate, found) = own_queue(LONG);
    queue.enqueue(1).await.unwrap();
    until(|| queue.stats().running == 1).await;
    queue.enqueue(2).await.unwrap();
    gate.open(1);
    settle_down().await;
    let now = Instant::now();
    assert_eq!(end(&queue).await.stats().done, 2);
    assert!(matches!(found.lock().waited, Some(Err(EnqueueError::Closed(4)))));
    assert_eq!(Instant::now(), now);
}
