//! The whole engine, fed by an end of the queue that names no broker.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::ops::Range;
use std::time::Duration;

use bench::{Shape, Subject, engine, jobs, ring};
use queue::{Queue, Ring};

struct Enqueuer;

impl Subject for Enqueuer {
    type Worker = Ring<u64>;
    const NAMES: &'static [&'static str] = &["enqueuer"];
    const SHAPES: &'static [Shape] = Shape::BOTH;

    fn start(_: &str, slots: usize) -> Queue<Self::Worker> {
        let worker = ring().build().expect("a valid ring");
        let builder = Queue::with_worker(worker).slots(slots).timeout(Duration::from_secs(30));
        builder.start(jobs::no_op).expect("a valid queue")
    }

    async fn produce(queue: Queue<Self::Worker>, jobs: Range<u64>) {
        let enqueuer = queue.enqueuer();
        for job in jobs {
            enqueuer.enqueue(job).await.expect("an open ring takes every job");
        }
    }
}

fn main() {
    engine::<Enqueuer>();
}
