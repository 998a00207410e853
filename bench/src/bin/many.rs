//! The bare engine, fed in batches of 64.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::ops::Range;

use bench::{Shape, Subject, engine, jobs, ring};
use queue::{Queue, Retry, Ring};

struct Many;

/// How many jobs a batch has.
const BATCH: usize = 64;

impl Subject for Many {
    type Worker = Ring<u64>;
    const NAMES: &'static [&'static str] = &["many"];
    const SHAPES: &'static [Shape] = Shape::BOTH;

    fn start(_: &str, slots: usize) -> Queue<Self::Worker> {
        let worker = ring().dead_letters(0).build().expect("a valid ring");
        Queue::with_worker(worker).slots(slots).retry(Retry::none()).start(jobs::no_op).expect("a valid queue")
    }

    async fn produce(queue: Queue<Self::Worker>, jobs: Range<u64>) {
        for first in jobs.clone().step_by(BATCH) {
            let batch = first..jobs.end.min(first + BATCH as u64);
            queue.enqueue_many(batch).await.expect("an open ring takes every job");
        }
    }
}

fn main() {
    engine::<Many>();
}
