//! The engine with everything off that can be: one attempt, no timeout, no dead letters.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use bench::{CAPACITY, Shape, Subject, engine, jobs};
use queue::{Queue, Retry, Ring};

struct Bare;

impl Subject for Bare {
    type Worker = Ring<u64>;
    const NAME: &'static str = "bare";
    const SHAPES: &'static [Shape] = &[
        Shape::ct(1, 1),
        Shape::ct(1, 4),
        Shape::ct(1, 16),
        Shape::mt2(1, 1),
        Shape::mt2(1, 4),
        Shape::mt2(1, 16),
        Shape::mt2(16, 1),
        Shape::mt2(16, 16),
    ];

    fn start(slots: usize) -> Queue<Self::Worker> {
        let ring = Ring::builder().capacity(CAPACITY).floor(CAPACITY).dead_letters(0).build().expect("a valid ring");
        Queue::with_worker(ring).slots(slots).retry(Retry::none()).start(jobs::no_op).expect("a valid queue")
    }
}

fn main() {
    engine::<Bare>();
}
