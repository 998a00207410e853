//! The engine with everything off that can be: one attempt, no timeout, no dead letters.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use bench::{Shape, Subject, engine, jobs, ring};
use queue::{Queue, Retry, Ring};

struct Bare;

impl Subject for Bare {
    type Worker = Ring<u64>;
    const NAMES: &'static [&'static str] = &["bare"];
    const SHAPES: &'static [Shape] = Shape::ALL;

    fn start(_: &str, slots: usize) -> Queue<Self::Worker> {
        let worker = ring().dead_letters(0).build().expect("a valid ring");
        Queue::with_worker(worker).slots(slots).retry(Retry::none()).start(jobs::no_op).expect("a valid queue")
    }
}

fn main() {
    engine::<Bare>();
}
