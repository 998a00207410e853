//! Of all that happens to slots only adding one allocates.

#![allow(clippy::unwrap_used)]

mod common_alloc;

use std::sync::Arc;

use common_alloc::{allocations_of, on_each_runtime};
use queue::{Queue, Ring};
use tokio::sync::Semaphore;

/// P-12
#[test]
fn only_adding_a_slot_allocates() {
    on_each_runtime(async || {
        let ring = Ring::builder().capacity(64).floor(64).build().unwrap();
        let queue = Queue::with_worker(ring).slots(4).start(async |_: u64| ()).unwrap();
        // The first resize has seen every slot's first poll behind it.
        queue.resize(4).await.unwrap();
        assert_eq!(allocations_of(queue.resize(4)).await, 0, "none added");
        assert_eq!(allocations_of(queue.resize(1)).await, 0, "three removed");
        assert_eq!(allocations_of(queue.resize(0)).await, 0, "paused");
        assert!(allocations_of(queue.resize(4)).await > 0, "four added");
        assert_eq!(allocations_of(queue.resize(3)).await, 0, "one removed");
        let run = async {
            for job in 0..1_000 {
                queue.enqueue(job).await.unwrap();
            }
            while queue.stats().done < 1_000 {
                tokio::task::yield_now().await;
            }
        };
        run.await;
        assert_eq!(queue.stats().slots, 3);

        // Four slots that have had jobs since they were added, and find none for the first time.
        let gate = Arc::new(Semaphore::new(0));
        let theirs = gate.clone();
        let ring = Ring::builder().capacity(64).floor(64).build().unwrap();
        let queue = Queue::with_worker(ring).slots(0);
        let queue = queue
            .start(move |_: u64| {
                let gate = theirs.clone();
                async move { gate.acquire().await.unwrap().forget() }
            })
            .unwrap();
        for job in 0..64 {
            queue.enqueue(job).await.unwrap();
        }
        queue.resize(4).await.unwrap();
        while queue.stats().running < 4 {
            tokio::task::yield_now().await;
        }
        let drain = async {
            gate.add_permits(64);
            while queue.stats().done < 64 {
                tokio::task::yield_now().await;
            }
            // Followed by each once it waits for a job.
            queue.resize(4).await.unwrap();
        };
        assert_eq!(allocations_of(drain).await, 0, "their first wait");
    });
}
