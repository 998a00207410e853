//! Of all that happens to slots only adding one allocates.

#![allow(clippy::unwrap_used)]

mod common_alloc;

use common_alloc::{allocations_of, on_each_runtime};
use queue::{Queue, Ring};

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
    });
}
