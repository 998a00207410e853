//! How often a queue over the ring clones a job, and what its floor keeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::until;
use crate::tokio;
use parking_lot::Mutex;
use queue::{EnqueueError, Queue, Retry, Ring};

const LONG: Duration = Duration::from_secs(60);

/// A job that counts its clones.
struct Counted(Arc<AtomicUsize>, Box<u32>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::SeqCst);
        Self(self.0.clone(), self.1.clone())
    }
}

/// How often a job is cloned that always fails.
async fn clones(dead_letters: usize, retry: Retry) -> usize {
    let ring = Ring::builder().dead_letters(dead_letters).build().unwrap();
    let queue = Queue::with_worker(ring).slots(1).retry(retry).start(async |_: Counted| Err("no")).unwrap();
    let clones = Arc::new(AtomicUsize::new(0));
    queue.enqueue(Counted(clones.clone(), Box::new(1))).await.unwrap();
    until(|| queue.stats().dead != 0).await;
    clones.load(Ordering::SeqCst)
}

///
#[tokio::test(start_paused = true)]
async fn a_job_is_cloned_only_while_something_could_need_it() {
    let retry = Retry::fixed(2, Duration::from_secs(1));
    assert_eq!(clones(0, Retry::none()).await, 0);
    assert_eq!(clones(1, Retry::none()).await, 1, "the dead letter's");
    assert_eq!(clones(0, retry).await, 2, "the second attempt's and the third's");
    assert_eq!(clones(0, retry.inline()).await, 2, "inline");
    assert_eq!(clones(1, retry).await, 3, "those and the dead letter's");
}

/// P-3
#[tokio::test(start_paused = true)]
async fn without_retries_and_dead_letters_the_handler_gets_the_very_value() {
    let ring = Ring::builder().dead_letters(0).build().unwrap();
    let got = Arc::new(Mutex::new(Vec::new()));
    let theirs = got.clone();
    let queue = Queue::with_worker(ring).slots(1).retry(Retry::none());
    let queue = queue
        .start(move |job: Counted| {
            theirs.lock().push(job);
            std::future::ready(())
        })
        .unwrap();
    let clones = Arc::new(AtomicUsize::new(0));
    let value = Box::new(7);
    let address = std::ptr::from_ref(&*value);
    queue.enqueue(Counted(clones.clone(), value)).await.unwrap();
    assert!(queue.shutdown(LONG).await.unwrap().is_complete());
    assert_eq!(clones.load(Ordering::SeqCst), 0);
    let got = got.lock();
    assert_eq!((got.len(), *got[0].1, std::ptr::from_ref(&*got[0].1)), (1, 7, address));
}

///
#[tokio::test(start_paused = true)]
async fn jobs_that_are_no_clones_run_once() {
    type Task = Box<dyn FnOnce() -> Result<(), &'static str> + Send>;
    let queue = Queue::with_worker(Ring::<Task, _>::once()).slots(2).start(async |task: Task| task()).unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    for job in 0..10 {
        let ran = ran.clone();
        let task = move || {
            ran.fetch_add(1, Ordering::SeqCst);
            if job == 3 { Err("no") } else { Ok(()) }
        };
        queue.enqueue(Box::new(task)).await.unwrap();
    }
    let report = queue.shutdown(LONG).await.unwrap();
    assert_eq!((report.stats().done, report.stats().dead, ran.load(Ordering::SeqCst)), (9, 1, 10));
}

///
#[tokio::test(start_paused = true)]
async fn a_floor_changes_neither_order_nor_refusals() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let theirs = order.clone();
    let ring = Ring::builder().capacity(100).floor(64).build().unwrap();
    let queue = Queue::with_worker(ring).slots(0);
    let queue = queue
        .start(move |job: Arc<usize>| {
            theirs.lock().push(*job);
            std::future::ready(())
        })
        .unwrap();
    let mut next = 0;
    let mut jobs = Vec::new();
    // Fills of several sizes, so that the head stands at another cell each time.
    for fill in [100, 37, 64, 99, 1, 100, 63] {
        for _ in 0..fill {
            let job = Arc::new(next);
            jobs.push(job.clone());
            queue.enqueue(job).await.unwrap();
            next += 1;
        }
        if fill == 100 {
            assert!(matches!(queue.try_enqueue(Arc::new(0)).await, Err(EnqueueError::Full(_))));
        }
        queue.resize(1).await.unwrap();
        until(|| queue.stats().done >= next as u64).await;
        queue.resize(0).await.unwrap();
        assert!(jobs.iter().all(|job| Arc::strong_count(job) == 1), "what ran is gone");
        assert!((64..=100).contains(&queue.worker().cells()));
    }
    assert_eq!(*order.lock(), (0..next).collect::<Vec<_>>());
    assert!(queue.shutdown(LONG).await.unwrap().is_complete());
    assert!(matches!(queue.try_enqueue(Arc::new(7)).await, Err(EnqueueError::Closed(back)) if *back == 7));
}

///
#[tokio::test]
async fn a_burst_of_a_million_leaves_the_ring_at_its_floor() {
    let ring = Ring::builder().floor(1_000).build().unwrap();
    let queue = Queue::with_worker(ring).slots(0).start(async |_: u32| ()).unwrap();
    for job in 0..1_000_000 {
        queue.enqueue(job).await.unwrap();
    }
    assert!(queue.worker().cells() >= 1_000_000);
    queue.resize(2).await.unwrap();
    until(|| queue.stats().done >= 1_000_000).await;
    assert!((1_000..=1_024).contains(&queue.worker().cells()), "{}", queue.worker().cells());
}
