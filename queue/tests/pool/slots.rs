//! Slots of a pool that come and go.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::tokio;
use queue::{EnqueueError, Queue, Ring};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

const LONG: Duration = Duration::from_secs(60);

fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// Waits, but not for ever.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(LONG, future).await.unwrap()
}

/// Lets all that can go on go on, without moving a paused clock.
async fn rounds() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// P-6
#[tokio::test(start_paused = true)]
async fn a_removed_slot_takes_no_job_after_the_one_it_holds() {
    let (started, gates) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let theirs = (started.clone(), gates.clone());
    let queue = Queue::with_worker(Ring::new()).slots(4);
    let queue = queue
        .start(move |_: usize| {
            let (started, gates) = theirs.clone();
            async move {
                started.fetch_add(1, Ordering::SeqCst);
                gates.acquire().await.unwrap().forget();
            }
        })
        .unwrap();
    for job in 0..1_000 {
        queue.enqueue(job).await.unwrap();
    }
    rounds().await;
    assert_eq!(started.load(Ordering::SeqCst), 4);
    soon(queue.resize(3)).await.unwrap();
    rounds().await;
    assert_eq!((started.load(Ordering::SeqCst), queue.stats().running), (4, 4), "running jobs go on");
    gates.add_permits(4);
    rounds().await;
    assert_eq!((started.load(Ordering::SeqCst), queue.stats().running), (7, 3), "four ended, three followed");
    assert_eq!(queue.stats().slots, 3);
    assert_eq!(queue.stats().queued, 1_000 - 7);
}

/// P-6
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removed_slot_gives_up_the_jobs_that_it_took_ahead() {
    let (started, blocked) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let (go, gate) = mpsc::channel::<()>();
    let gate = Arc::new(parking_lot::Mutex::new(gate));
    let theirs = (started.clone(), blocked.clone());
    let queue = Queue::with_worker(Ring::new()).slots(1);
    // Blocks its thread: nobody but the slot itself can find out that it shall go.
    let queue = queue
        .start(move |_: usize| {
            theirs.0.fetch_add(1, Ordering::SeqCst);
            theirs.1.add_permits(1);
            gate.lock().recv().unwrap();
            std::future::ready(())
        })
        .unwrap();
    let jobs: Vec<_> = (0..1_000).collect();
    queue.enqueue_many(jobs).await.unwrap();
    soon(blocked.acquire()).await.unwrap().forget();
    let before = started.load(Ordering::SeqCst);
    let mut resize = Box::pin(queue.resize(0));
    assert!(poll_once(&mut resize).await.is_pending(), "its job still runs");
    for _ in 0..100 {
        go.send(()).unwrap();
    }
    soon(resize).await.unwrap();
    assert_eq!(started.load(Ordering::SeqCst), before, "64 were in its hands, and none of them started");
    let stats = queue.stats();
    assert_eq!((stats.queued, stats.done, stats.held, stats.slots), (1_000 - before as u64, before as u64, 0, 0));
}

/// P-7
#[tokio::test(start_paused = true)]
async fn a_sleeping_slot_leaves_at_once_and_passes_its_wake_on() {
    for _ in 0..100 {
        let queue = Queue::with_worker(Ring::new()).slots(2).start(async |_: usize| ()).unwrap();
        rounds().await;
        let start = Instant::now();
        // The slot that is called for this job may be the one that goes: it has had no turn in between.
        queue.enqueue(1).await.unwrap();
        soon(queue.resize(1)).await.unwrap();
        assert_eq!(queue.stats().slots, 1);
        rounds().await;
        assert_eq!(queue.stats().done, 1, "the job found the other slot");
        soon(queue.resize(0)).await.unwrap();
        assert_eq!((queue.stats().slots, start.elapsed()), (0, Duration::ZERO));
    }
}

/// P-7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_wake_is_lost_while_slots_come_and_go() {
    let queue = Queue::with_worker(Ring::new()).slots(1).start(async |_: usize| ()).unwrap();
    for round in 0..2_000 {
        let resizes = async {
            soon(queue.resize(1 + round % 4)).await.unwrap();
            soon(queue.resize(1)).await.unwrap();
        };
        let (enqueued, ()) = tokio::join!(queue.enqueue(round), resizes);
        enqueued.unwrap();
        let ran = async {
            while queue.stats().done <= round as u64 {
                tokio::task::yield_now().await;
            }
        };
        soon(ran).await;
    }
}

/// P-10
#[tokio::test(start_paused = true)]
async fn one_of_several_slots_goes_and_all_may_come_back() {
    let queue = Queue::with_worker(Ring::new()).slots(4).start(async |_: usize| ()).unwrap();
    let run = async |jobs: usize| {
        let done = queue.stats().done + jobs as u64;
        for job in 0..jobs {
            queue.enqueue(job).await.unwrap();
        }
        rounds().await;
        queue.stats().done == done
    };
    assert!(run(10).await);
    assert_eq!((queue.slots(), queue.stats().slots), (4, 4));
    soon(queue.resize(3)).await.unwrap();
    assert_eq!((queue.slots(), queue.stats().slots), (3, 3));
    assert!(run(10).await);
    soon(queue.resize(0)).await.unwrap();
    assert_eq!((queue.slots(), queue.stats().slots), (0, 0));
    assert!(!run(10).await);
    assert_eq!(queue.stats().queued, 10);
    soon(queue.resize(2)).await.unwrap();
    assert_eq!((queue.slots(), queue.stats().slots), (2, 2));
    rounds().await;
    assert_eq!(queue.stats().done, 30, "the ten that waited ran");
    assert!(run(10).await);
    assert_eq!(queue.stats().done, 40);
}

/// P-12
#[tokio::test]
async fn a_slot_is_a_task_and_none_is_left() {
    let baseline = tasks();
    let mut constant = None;
    for slots in [0, 1, 4, 16] {
        let queue = Queue::with_worker(Ring::new()).slots(slots).start(async |_: usize| ()).unwrap();
        let beside = tasks() - baseline - slots;
        assert_eq!(*constant.get_or_insert(beside), beside, "{slots} slots");
        for job in 0..1_000 {
            queue.enqueue(job).await.unwrap();
        }
        rounds().await;
        assert_eq!(tasks() - baseline - slots, beside, "no task a job");
        soon(queue.resize(slots + 3)).await.unwrap();
        assert_eq!(tasks() - baseline - slots - 3, beside);
        soon(queue.resize(1)).await.unwrap();
        rounds().await;
        assert_eq!(tasks() - baseline - 1, beside);
        assert!(queue.shutdown(LONG).await.unwrap().is_complete());
        rounds().await;
        assert_eq!(tasks(), baseline);
    }
}

/// P-13
#[tokio::test(start_paused = true)]
async fn nothing_after_the_end_panics() {
    let queue = Queue::with_worker(Ring::new()).slots(2).start(async |_: usize| ()).unwrap();
    queue.enqueue(1).await.unwrap();
    let (first, second) = (queue.shutdown(LONG).await.unwrap(), queue.shutdown(Duration::ZERO).await.unwrap());
    assert_eq!((first.stats(), first.stats().done), (second.stats(), 1));
    soon(queue.resize(8)).await.unwrap_err();
    rounds().await;
    assert_eq!(queue.stats().slots, 0);
    assert!(matches!(queue.enqueue(7).await, Err(EnqueueError::Closed(7))));
    assert!(matches!(queue.try_enqueue(8).await, Err(EnqueueError::Closed(8))));
    assert!(matches!(queue.enqueuer().enqueue(9).await, Err(EnqueueError::Closed(9))));
    assert_eq!(queue.stats().rejected, 3);
}

/// One poll.
async fn poll_once<F: Future + Unpin>(future: &mut F) -> std::task::Poll<F::Output> {
    std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx))).await
}
