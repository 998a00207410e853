//! Reading the age of the oldest job of a ring allocates nothing.

#![allow(clippy::unwrap_used)]

mod common_alloc;

use std::time::Duration;

use common_alloc::{allocations_of, on_paused_runtime};
use queue::core::Clock;
use queue::{Inspects, Queue, Ring};

/// E-98: of all priorities the oldest; what waits for its time has no age yet.
#[test]
fn the_oldest_job_shows_its_age() {
    on_paused_runtime(async || {
        let queue = Queue::with_worker(Ring::new()).slots(0).start(async |_: u64| ()).unwrap();
        let oldest = async || {
            let mut oldest = None;
            let count = allocations_of(async { oldest = queue.worker().inspect().await.unwrap().oldest });
            assert_eq!(count.await, 0);
            oldest
        };
        let wait = async |seconds| tokio::time::sleep(Duration::from_secs(seconds)).await;
        let shows = |age: Option<Duration>, seconds| {
            let (age, wanted) = (age.unwrap(), Duration::from_secs(seconds));
            assert!(age >= wanted && age <= wanted + Clock::TICK, "{age:?} instead of {wanted:?}");
        };
        queue.job(1).delay(Duration::from_secs(3_600)).enqueue().await.unwrap();
        wait(5).await;
        assert_eq!(oldest().await, None);
        queue.enqueue(2).await.unwrap();
        wait(3).await;
        shows(oldest().await, 3);
        queue.job(3).priority(9).enqueue().await.unwrap();
        wait(2).await;
        shows(oldest().await, 5);
        queue.resize(1).await.unwrap();
        while queue.stats().done < 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(oldest().await, None);
    });
}
