//! The whole engine in rounds: 1,024 jobs, then a wait until there is nothing to do.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::ops::Range;
use std::time::Duration;

use bench::{Shape, Subject, engine, jobs, ring};
use queue::{Queue, Ring};

struct Rounds;

/// How many jobs a round has.
const ROUND: usize = 1_024;

impl Subject for Rounds {
    type Worker = Ring<u64>;
    const NAMES: &'static [&'static str] = &["rounds"];
    const SHAPES: &'static [Shape] = Shape::BOTH;
    const JOBS: u64 = 256 * ROUND as u64;

    fn start(_: &str, slots: usize) -> Queue<Self::Worker> {
        let worker = ring().build().expect("a valid ring");
        let builder = Queue::with_worker(worker).slots(slots).timeout(Duration::from_secs(30));
        builder.start(jobs::no_op).expect("a valid queue")
    }

    async fn produce(queue: Queue<Self::Worker>, jobs: Range<u64>) {
        for first in jobs.clone().step_by(ROUND) {
            for job in first..jobs.end.min(first + ROUND as u64) {
                queue.enqueue(job).await.expect("an open ring takes every job");
            }
            queue.idle().await;
        }
    }
}

fn main() {
    engine::<Rounds>();
}
