//! A queue over the ring as a job pool: every job runs once, whatever the number of producers and slots.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use crate::tokio;
use parking_lot::Mutex;
use queue::{Queue, Retry, Ring};
use tokio::task::JoinSet;

const LONG: Duration = Duration::from_secs(60);

fn ring<J: Clone + Send + 'static>(capacity: usize) -> Ring<J> {
    Ring::builder().capacity(capacity).floor(capacity).build().unwrap()
}

/// Waits until `done`, but not for ever.
async fn until(done: impl Fn() -> bool) {
    let done = async {
        while !done() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), done).await.unwrap();
}

/// P-2
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_producer_that_is_faster_than_the_slots_waits_and_loses_nothing() {
    const JOBS: u64 = 100_000;
    for slots in [1, 16] {
        let sum = Arc::new(AtomicU64::new(0));
        let theirs = sum.clone();
        let queue = Queue::with_worker(ring(1_024)).slots(slots);
        let queue = queue
            .start(move |job: u64| {
                let sum = theirs.clone();
                async move {
                    tokio::task::yield_now().await;
                    sum.fetch_add(job, Ordering::SeqCst);
                }
            })
            .unwrap();
        let mut fullest = 0;
        for job in 0..JOBS {
            tokio::time::timeout(LONG, queue.enqueue(job)).await.unwrap().unwrap();
            if job % 64 == 0 {
                fullest = fullest.max(queue.stats().queued);
            }
        }
        let report = queue.shutdown(LONG).await.unwrap();
        assert_eq!(sum.load(Ordering::SeqCst), JOBS * (JOBS - 1) / 2);
        let stats = report.stats();
        assert_eq!((stats.accepted, stats.rejected, stats.done), (JOBS, 0, JOBS));
        assert!(fullest > 512, "the producer was ahead: {fullest} queued");
    }
}

/// P-4
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_producers_and_sixteen_slots_run_a_million_jobs_once_each() {
    const PART: usize = 62_500;
    let runs: Arc<Vec<AtomicU8>> = Arc::new((0..16 * PART).map(|_| AtomicU8::new(0)).collect());
    let theirs = runs.clone();
    let queue = Queue::with_worker(ring(1_024)).slots(16);
    let queue = queue
        .start(move |job: usize| {
            theirs[job].fetch_add(1, Ordering::Relaxed);
            std::future::ready(())
        })
        .unwrap();
    let mut producers = JoinSet::new();
    for producer in 0..16 {
        let queue = queue.clone();
        producers.spawn(async move {
            for job in producer * PART..(producer + 1) * PART {
                queue.enqueue(job).await.unwrap();
            }
        });
    }
    tokio::time::timeout(LONG, producers.join_all()).await.unwrap();
    let report = queue.shutdown(LONG).await.unwrap();
    assert_eq!(report.stats().done, 16 * PART as u64);
    assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1));
}

/// P-9
#[tokio::test(start_paused = true)]
async fn three_jobs_run_on_any_number_of_slots() {
    for slots in [2, 3, 5] {
        let ran = Arc::new(Mutex::new(Vec::new()));
        let theirs = ran.clone();
        let queue = Queue::with_worker(ring(2)).slots(slots);
        let queue = queue
            .start(move |job: &'static str| {
                theirs.lock().push(job);
                std::future::ready(())
            })
            .unwrap();
        for job in ["a", "b", "c"] {
            queue.enqueue(job).await.unwrap();
        }
        assert!(queue.shutdown(LONG).await.unwrap().is_complete());
        ran.lock().sort_unstable();
        assert_eq!(*ran.lock(), ["a", "b", "c"], "{slots} slots");
    }
}

/// P-5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_enqueue_falls_before_or_after_shutdown() {
    const JOBS: usize = 64;
    for round in 0..400 {
        let ran = Arc::new(Mutex::new(Vec::new()));
        let theirs = ran.clone();
        // In odd rounds shutdown has time for all, in even ones for none; every third is full most of the time.
        let queue = Queue::with_worker(ring(if round % 3 == 0 { 4 } else { 1_024 })).slots(2).retry(Retry::none());
        let queue = queue
            .start(move |job: usize| {
                theirs.lock().push(job);
                std::future::ready(())
            })
            .unwrap();
        let mut producers = JoinSet::new();
        for producer in 0..4 {
            let queue = queue.clone();
            producers.spawn(async move { refused_of(&queue, producer * JOBS / 4..(producer + 1) * JOBS / 4).await });
        }
        // Somewhere among them, another place each round.
        until(|| queue.stats().accepted >= (round % JOBS) as u64).await;
        let time = if round % 2 == 0 { Duration::ZERO } else { LONG };
        let report = queue.shutdown(time).await.unwrap();
        let refused = tokio::time::timeout(LONG, producers.join_all()).await.unwrap().concat();
        let unrun: Vec<_> = report.take_unrun().into_iter().map(|unrun| unrun.job.unwrap()).collect();
        let stats = *report.stats();
        assert_eq!(stats.accepted as usize + refused.len(), JOBS);
        assert_eq!((stats.done as usize, stats.returned as usize), (ran.lock().len(), unrun.len()));
        let mut all = [ran.lock().clone(), unrun, refused].concat();
        all.sort_unstable();
        assert_eq!(all, (0..JOBS).collect::<Vec<_>>(), "round {round}: each job once");
    }
}

/// Queues jobs until each is accepted or comes back.
async fn refused_of(queue: &Queue<Ring<usize>>, jobs: std::ops::Range<usize>) -> Vec<usize> {
    let mut refused = Vec::new();
    for job in jobs {
        let Err(error) = queue.enqueue(job).await else { continue };
        assert!(matches!(error, queue::EnqueueError::Closed(back) if back == job));
        refused.push(job);
    }
    refused
}
