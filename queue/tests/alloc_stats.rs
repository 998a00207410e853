//! Reading the numbers of a queue allocates nothing.

#![allow(clippy::unwrap_used)]

mod common_alloc;

use common_alloc::{allocations_of, on_each_runtime};
use queue::{Queue, Ring};

/// E-94
#[test]
fn stats_allocate_nothing() {
    on_each_runtime(async || {
        let queue =
            Queue::with_worker(Ring::new()).slots(4).start(async |_: u64| std::future::pending::<()>().await).unwrap();
        for job in 0..100 {
            queue.enqueue(job).await.unwrap();
        }
        while queue.stats().running < 4 {
            tokio::task::yield_now().await;
        }
        let count = allocations_of(async {
            for _ in 0..2_000 {
                let stats = queue.stats();
                assert_eq!((stats.accepted, stats.running, stats.queued + stats.held), (100, 4, 96));
            }
        });
        assert_eq!(count.await, 0);
    });
}
