//! An enqueue with room, against a lock that nobody else wants, or that another thread wants too.
//!
//! A busy queue ticks its clock; an idle one stops it, and each enqueue reads the exact time. Both are rows.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use bench::{Row, Runtimes, Shape, measure, now};
use queue::core::{Payload, Worker};
use queue::{Queue, Ring};
use tokio::runtime::Runtime;

/// Room for the jobs of one filling: what starting a caller costs is then nothing.
const ROOM: usize = 1 << 14;

async fn fill(queue: Queue<Ring<u64>>, jobs: Range<u64>) {
    for job in jobs {
        queue.enqueue(job).await.expect("there is room");
    }
}

/// Fills an empty ring again and again; only the filling is timed.
fn submit(runtime: &Runtime, ticking: bool, callers: u64, jobs: u64) -> Duration {
    runtime.block_on(async {
        let ring = Ring::builder().capacity(ROOM).floor(ROOM).build::<u64>().expect("a valid ring");
        let queue = Queue::with_worker(ring).producer().expect("a valid queue");
        if ticking {
            queue.worker().clock().tick(now().into());
        }
        let mut taken = VecDeque::with_capacity(ROOM);
        let (mut wall, mut sum) = (Duration::ZERO, 0_u64);
        for first in (0..jobs).step_by(ROOM) {
            let part = |nth| first + (jobs - first).min(ROOM as u64) * nth / callers;
            let start = now();
            // The first needs no task: where it is the only one, nothing but the queue can allocate.
            let others: Vec<_> =
                (1..callers).map(|nth| runtime.spawn(fill(queue.clone(), part(nth)..part(nth + 1)))).collect();
            fill(queue.clone(), part(0)..part(1)).await;
            for caller in others {
                caller.await.expect("a caller does not panic");
            }
            wall += start.elapsed();
            queue.worker().request(ROOM, &mut taken).await.expect("there are jobs");
            for delivery in taken.drain(..) {
                sum = sum.wrapping_add(delivery.payload.take(false).0.expect("a ring's job needs no decoding"));
            }
        }
        assert_eq!(sum, bench::jobs::sum_of(jobs), "jobs were lost or doubled");
        wall
    })
}

fn main() {
    let runtimes = Runtimes::start();
    let row = |(name, shape, ticking, callers): (_, Shape, _, _)| {
        let runtime = runtimes.of(shape);
        let floor = if callers == 1 { bench::floors::LOCK } else { shape.floor() };
        let run = move |jobs| submit(runtime, ticking, callers, jobs);
        Row::new(name, 1 << 20, run).over(floor).counting(16 * ROOM as u64)
    };
    let (ct, mt2) = (Shape::ct(1, 0), Shape::mt2(16, 0));
    let rows = [
        ("submit/busy", ct, true, 1),
        ("submit/idle", ct, false, 1),
        ("submit/ct/16", ct, true, 16),
        ("submit/mt2/16", mt2, true, 16),
    ];
    measure(rows.map(row).into());
}
