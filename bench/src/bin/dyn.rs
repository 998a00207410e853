//! The whole engine over a worker that is chosen at run time.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::time::Duration;

use bench::{CAPACITY, Shape, Subject, engine, jobs};
use queue::{DynWorker, Queue, Ring, Worker};

struct Dyn;

impl Subject for Dyn {
    type Worker = DynWorker<u64>;
    const NAME: &'static str = "dyn";
    const SHAPES: &'static [Shape] = &[Shape::ct(1, 4), Shape::mt2(1, 4)];

    fn start(slots: usize) -> Queue<Self::Worker> {
        let ring = Ring::builder().capacity(CAPACITY).floor(CAPACITY).build::<u64>().expect("a valid ring");
        let builder = Queue::with_worker(ring.boxed()).slots(slots).timeout(Duration::from_secs(30));
        builder.start(jobs::no_op).expect("a valid queue")
    }
}

fn main() {
    engine::<Dyn>();
}
