//! The whole engine over a worker that is chosen at run time.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::time::Duration;

use bench::{Shape, Subject, engine, jobs, ring};
use queue::{DynWorker, Queue, Worker};

struct Dyn;

impl Subject for Dyn {
    type Worker = DynWorker<u64>;
    const NAMES: &'static [&'static str] = &["dyn"];
    const SHAPES: &'static [Shape] = Shape::BOTH;

    fn start(_: &str, slots: usize) -> Queue<Self::Worker> {
        let worker = ring().build::<u64>().expect("a valid ring");
        let builder = Queue::with_worker(worker.boxed()).slots(slots).timeout(Duration::from_secs(30));
        builder.start(jobs::no_op).expect("a valid queue")
    }
}

fn main() {
    engine::<Dyn>();
}
