//! An enqueue with room, by one caller, against a lock that nobody else wants.
//!
//! A busy queue ticks its clock; an idle one stops it, and each enqueue reads the exact time. Both are rows.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::collections::VecDeque;
use std::time::Duration;

use bench::{CAPACITY, Row, floors, measure, now};
use queue::core::{Payload, Worker};
use queue::{Queue, Ring};

/// Fills an empty ring again and again; only the filling is timed.
fn submit(ticking: bool, jobs: u64) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
    runtime.block_on(async {
        let ring = Ring::builder().capacity(CAPACITY).floor(CAPACITY).build::<u64>().expect("a valid ring");
        let queue = Queue::with_worker(ring).producer().expect("a valid queue");
        if ticking {
            queue.worker().clock().tick(now().into());
        }
        let mut taken = VecDeque::with_capacity(CAPACITY);
        let (mut wall, mut sum) = (Duration::ZERO, 0_u64);
        let mut first = 0;
        while first < jobs {
            let end = jobs.min(first + CAPACITY as u64);
            let start = now();
            for job in first..end {
                queue.enqueue(job).await.expect("there is room");
            }
            wall += start.elapsed();
            queue.worker().request(CAPACITY, &mut taken).await.expect("there are jobs");
            for delivery in taken.drain(..) {
                sum = sum.wrapping_add(delivery.payload.take(false).0.expect("a ring's job needs no decoding"));
            }
            first = end;
        }
        assert_eq!(sum, bench::jobs::sum_of(jobs), "jobs were lost or doubled");
        wall
    })
}

fn main() {
    let row = |name, ticking| Row::new(name, 1_000_000, move |jobs| submit(ticking, jobs)).over(floors::LOCK);
    measure(vec![row("submit/busy", true), row("submit/idle", false)]);
}
