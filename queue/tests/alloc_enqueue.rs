//! An enqueue that finds room allocates nothing, whoever calls it.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common_alloc;

use std::sync::Arc;

use common_alloc::{allocations_of, on_each_runtime};
use queue::{EnqueueError, Queue, Ring};
use tokio::sync::{Barrier, Semaphore};
use tokio::task::JoinSet;

const JOBS: usize = 100_000;

fn paused() -> Queue<Ring<u64>> {
    let ring = Ring::builder().capacity(JOBS).floor(JOBS).build().unwrap();
    Queue::with_worker(ring).slots(0).start(async |_: u64| ()).unwrap()
}

/// P-1
#[test]
fn an_enqueue_with_room_allocates_nothing() {
    on_each_runtime(async || {
        let (queue, other) = (paused(), paused());
        let enqueuer = other.enqueuer();
        let count = allocations_of(async {
            for job in 0..JOBS as u64 / 2 {
                queue.enqueue(job).await.unwrap();
                queue.try_enqueue(job).await.unwrap();
                enqueuer.enqueue(job).await.unwrap();
                enqueuer.try_enqueue(job).await.unwrap();
            }
            for job in 0..1_000 {
                assert!(matches!(queue.try_enqueue(job).await, Err(EnqueueError::Full(back)) if back == job));
            }
        });
        assert_eq!(count.await, 0);
        assert_eq!((queue.stats().accepted, other.stats().accepted), (JOBS as u64, JOBS as u64));

        let queue = paused();
        let (start, end) = (Arc::new(Barrier::new(17)), Arc::new(Semaphore::new(0)));
        let mut producers = JoinSet::new();
        for _ in 0..16 {
            let (enqueuer, start, end) = (queue.enqueuer(), start.clone(), end.clone());
            producers.spawn(async move {
                start.wait().await;
                for job in 0..JOBS as u64 / 16 {
                    enqueuer.enqueue(job).await.unwrap();
                }
                end.add_permits(1);
            });
        }
        let count = allocations_of(async {
            start.wait().await;
            end.acquire_many(16).await.unwrap().forget();
        });
        assert_eq!(count.await, 0, "16 producers");
        assert_eq!(queue.stats().queued, JOBS as u64);
    });
}
