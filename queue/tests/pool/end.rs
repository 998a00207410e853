//! How a pool ends: who waits is released, what was not run is named.

use std::sync::Arc;
use std::time::Duration;

use crate::tokio;
use queue::{EnqueueError, OnShutdown, Queue, Report, Ring};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

const LONG: Duration = Duration::from_secs(10);

fn ring(capacity: usize) -> Ring<usize> {
    Ring::builder().capacity(capacity).build().unwrap()
}

/// Lets all that can go on go on, without moving the paused clock.
async fn rounds() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn unrun(report: &Report<usize>) -> Vec<usize> {
    report.take_unrun().into_iter().map(|unrun| unrun.job.unwrap()).collect()
}

/// A queue with one slot, whose first job waits for the gate, and `queued` jobs behind it.
async fn behind_a_gate(queued: usize, on_shutdown: OnShutdown) -> (Queue<Ring<usize>>, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let theirs = gate.clone();
    let queue = Queue::with_worker(ring(1_024)).slots(1).on_shutdown(on_shutdown);
    let queue = queue
        .start(move |job: usize| {
            let gate = theirs.clone();
            async move {
                if job == 0 {
                    gate.acquire().await.unwrap().forget();
                }
            }
        })
        .unwrap();
    for job in 0..=queued {
        queue.enqueue(job).await.unwrap();
    }
    rounds().await;
    assert_eq!((queue.stats().running, queue.stats().queued), (1, queued as u64));
    (queue, gate)
}

/// P-8
#[tokio::test(start_paused = true)]
async fn without_slots_jobs_wait_and_shutdown_releases_who_waits() {
    let start = Instant::now();
    let queue = Queue::with_worker(ring(8)).slots(0).start(async |_: usize| ()).unwrap();
    let mut producers = JoinSet::new();
    for job in 0..10 {
        let queue = queue.clone();
        producers.spawn(async move { queue.enqueue(job).await });
    }
    rounds().await;
    assert_eq!(queue.stats().accepted, 8);
    let report = queue.shutdown(LONG).await.unwrap();
    let answers = timeout(LONG, producers.join_all()).await.unwrap();
    let refused: Vec<_> = answers.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 2);
    assert!(refused.iter().all(|error| matches!(error, EnqueueError::Closed(_))), "{refused:?}");
    let mut all: Vec<_> = refused.into_iter().map(EnqueueError::into_job).chain(unrun(&report)).collect();
    all.sort_unstable();
    assert_eq!(all, (0..10).collect::<Vec<_>>());
    assert!(report.is_complete());
    assert_eq!((report.stats().returned, start.elapsed()), (8, Duration::ZERO));
}

/// P-11
#[tokio::test(start_paused = true)]
async fn sixteen_that_wait_are_answered_when_shutdown_begins() {
    let gate = Arc::new(Semaphore::new(0));
    let theirs = gate.clone();
    let queue = Queue::with_worker(ring(4)).slots(1);
    let queue = queue
        .start(move |_: usize| {
            let gate = theirs.clone();
            async move { gate.acquire().await.unwrap().forget() }
        })
        .unwrap();
    for job in 0..5 {
        queue.enqueue(job).await.unwrap();
        rounds().await;
    }
    let mut producers = JoinSet::new();
    for job in 100..116 {
        let queue = queue.clone();
        producers.spawn(async move { queue.enqueue(job).await.map_err(|error| (job, error)) });
    }
    rounds().await;
    assert!(producers.try_join_next().is_none(), "all wait");

    let start = Instant::now();
    let ending = queue.clone();
    let shutdown = tokio::spawn(async move { ending.shutdown(LONG).await });
    for answer in timeout(LONG, producers.join_all()).await.unwrap() {
        assert!(matches!(answer, Err((job, EnqueueError::Closed(back))) if job == back), "{answer:?}");
    }
    assert!(matches!(queue.enqueue(7).await, Err(EnqueueError::Closed(7))));
    assert_eq!(start.elapsed(), Duration::ZERO, "at once");
    assert!(!shutdown.is_finished(), "the gated job still runs");
    gate.add_permits(5);
    let report = shutdown.await.unwrap().unwrap();
    assert_eq!((report.stats().done, report.stats().rejected), (5, 17));
}

/// P-16
#[tokio::test(start_paused = true)]
async fn at_the_deadline_the_report_has_what_did_not_run() {
    let (queue, _gate) = behind_a_gate(100, OnShutdown::Drain).await;
    let report = queue.shutdown(LONG).await.unwrap();
    // The gated job did not run to its end: it comes back as well, before those behind it.
    assert_eq!(unrun(&report), (0..=100).collect::<Vec<_>>());
    assert_eq!((report.stats().done, report.stats().returned), (0, 101));
}

/// P-16
#[tokio::test(start_paused = true)]
async fn told_to_return_it_reports_all_that_had_not_started() {
    let (queue, gate) = behind_a_gate(100, OnShutdown::Return).await;
    let ending = queue.clone();
    let shutdown = tokio::spawn(async move { ending.shutdown(LONG).await });
    rounds().await;
    gate.add_permits(1);
    let report = shutdown.await.unwrap().unwrap();
    assert_eq!(unrun(&report), (1..=100).collect::<Vec<_>>());
    assert_eq!((report.stats().done, report.stats().returned), (1, 100));
}

/// P-16
#[tokio::test(start_paused = true)]
async fn drained_in_time_it_reports_none() {
    let (queue, gate) = behind_a_gate(100, OnShutdown::Drain).await;
    let ending = queue.clone();
    let shutdown = tokio::spawn(async move { ending.shutdown(LONG).await });
    rounds().await;
    gate.add_permits(1);
    let report = shutdown.await.unwrap().unwrap();
    assert_eq!(unrun(&report), Vec::<usize>::new());
    assert_eq!((report.stats().done, report.stats().returned), (101, 0));
}
