//! Bursts through a queue: none allocates where the floor covers it, and few do where it does not.

#![allow(clippy::unwrap_used)]

mod common_alloc;

use common_alloc::{allocations_of, on_each_runtime};
use queue::{Pauses, Queue, Ring};

/// 1,024 jobs into a queue whose slot is held back, then all of them out.
async fn burst(queue: &Queue<Ring<u64>>) {
    let done = queue.stats().done + 1_024;
    queue.worker().pause().await.unwrap();
    for job in 0..1_024 {
        queue.enqueue(job).await.unwrap();
    }
    queue.worker().unpause().await.unwrap();
    while queue.stats().done < done {
        tokio::task::yield_now().await;
    }
}

///
#[test]
fn a_burst_allocates_nothing_above_a_floor_that_covers_it() {
    on_each_runtime(async || {
        let ring = Ring::builder().floor(1_024).build().unwrap();
        let queue = Queue::with_worker(ring).slots(1).start(async |_: u64| ()).unwrap();
        burst(&queue).await;
        for _ in 0..20 {
            assert_eq!(allocations_of(burst(&queue)).await, 0);
        }
        assert_eq!(queue.worker().cells(), 1_024);

        let queue = Queue::with_worker(Ring::new()).slots(1).start(async |_: u64| ()).unwrap();
        burst(&queue).await;
        for _ in 0..20 {
            let count = allocations_of(burst(&queue)).await;
            assert!((1..=18).contains(&count), "nine growths and at most nine halvings: {count}");
        }
        assert_eq!(queue.worker().cells(), 2);
    });
}
