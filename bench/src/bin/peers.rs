//! What a user would write without a queue: a task a job, and a channel with a semaphore.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::sync::Arc;
use std::time::Duration;

use bench::{CAPACITY, Row, Runtimes, Shape, jobs, measure, now};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{Semaphore, mpsc};

/// A task a job, at most as many at once as a ring would hold.
async fn spawn(runtime: Handle, all: u64) {
    let mut running = Vec::with_capacity(CAPACITY);
    for first in (0..all).step_by(CAPACITY) {
        running.extend((first..all.min(first + CAPACITY as u64)).map(|job| runtime.spawn(jobs::no_op(job))));
        for job in running.drain(..) {
            job.await.expect("a job does not panic");
        }
    }
}

/// A channel in front of a task that starts a task a job, four at once.
async fn semaphore(runtime: Handle, all: u64) {
    let (sender, mut receiver) = mpsc::channel(CAPACITY);
    let slots = Arc::new(Semaphore::new(4));
    let tasks = runtime.clone();
    let dispatcher = runtime.spawn(async move {
        while let Some(job) = receiver.recv().await {
            let slot = slots.clone().acquire_owned().await.expect("nobody closes the semaphore");
            tasks.spawn(async move {
                jobs::no_op(job).await;
                drop(slot);
            });
        }
        slots.acquire_many(4).await.expect("nobody closes the semaphore").forget();
    });
    for job in 0..all {
        sender.send(job).await.expect("the dispatcher listens");
    }
    drop(sender);
    dispatcher.await.expect("the dispatcher does not panic");
}

/// Until all jobs have run, started from a task as every producer is.
fn run<F>(runtime: &Runtime, peer: fn(Handle, u64) -> F, all: u64) -> Duration
where
    F: Future<Output = ()> + Send + 'static,
{
    let before = jobs::sum();
    let start = now();
    runtime.block_on(runtime.spawn(peer(runtime.handle().clone(), all))).expect("a peer does not panic");
    let wall = start.elapsed();
    assert_eq!(jobs::sum().wrapping_sub(before), jobs::sum_of(all), "jobs were lost or doubled");
    wall
}

fn main() {
    let runtimes = Runtimes::start();
    let rows = Shape::BOTH.iter().flat_map(|&shape| {
        let runtime = runtimes.of(shape);
        let spawned = Row::new(format!("spawn/{shape}"), 100_000, move |jobs| run(runtime, spawn, jobs));
        let limited = Row::new(format!("semaphore/{shape}"), 100_000, move |jobs| run(runtime, semaphore, jobs));
        [spawned, limited].map(|row| row.over(shape.floor()).counting(100_000))
    });
    measure(rows.collect());
}
