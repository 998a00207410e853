//! Jobs that a slot gives back to a full ring allocate nothing, where the ring keeps all its room.

#![allow(clippy::unwrap_used)]

mod common_alloc;

use std::sync::{Arc, OnceLock};

use common_alloc::{allocations_of, on_each_runtime};
use queue::{Enqueuer, Pauses, Queue, Ring};

const CAPACITY: u64 = 64;

/// P-1
#[test]
fn a_full_ring_takes_jobs_back_without_allocating() {
    on_each_runtime(async || {
        let again = Arc::new(OnceLock::<Enqueuer<u64>>::new());
        let theirs = again.clone();
        let ring = Ring::builder().capacity(64).floor(64).build().unwrap();
        let queue = Queue::with_worker(ring).slots(1);
        let queue = queue
            .start(move |job: u64| {
                let again = theirs.clone();
                async move {
                    if job == 1 {
                        // The slot has 63 more in its hands: the ring is filled meanwhile, then takes them back.
                        for _ in 0..CAPACITY {
                            again.get().unwrap().try_enqueue(0).await.unwrap();
                        }
                        tokio::task::yield_now().await;
                    }
                }
            })
            .unwrap();
        assert!(again.set(queue.enqueuer()).is_ok());
        let round = async || {
            let done = queue.stats().done + 2 * CAPACITY;
            queue.worker().pause().await.unwrap();
            queue.enqueue(1).await.unwrap();
            for _ in 1..CAPACITY {
                queue.enqueue(0).await.unwrap();
            }
            queue.worker().unpause().await.unwrap();
            while queue.stats().done < done {
                tokio::task::yield_now().await;
            }
        };
        round().await;
        for _ in 0..20 {
            assert_eq!(allocations_of(round()).await, 0);
        }
    });
}
