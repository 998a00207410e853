//! The whole engine: timeout, the default retries, dead letters, counters, panic isolation.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::time::Duration;

use bench::{CAPACITY, Shape, Subject, engine, jobs};
use queue::{Queue, Ring};

struct Stack;

impl Subject for Stack {
    type Worker = Ring<u64>;
    const NAME: &'static str = "stack";
    const SHAPES: &'static [Shape] = &[
        Shape::ct(1, 1),
        Shape::ct(1, 4),
        Shape::ct(1, 16),
        Shape::mt2(1, 1),
        Shape::mt2(1, 4),
        Shape::mt2(1, 16),
        Shape::mt2(16, 16),
    ];

    fn start(slots: usize) -> Queue<Self::Worker> {
        let ring = Ring::builder().capacity(CAPACITY).floor(CAPACITY).build().expect("a valid ring");
        let builder = Queue::with_worker(ring).slots(slots).timeout(Duration::from_secs(30));
        builder.start(jobs::no_op).expect("a valid queue")
    }
}

fn main() {
    engine::<Stack>();
}
