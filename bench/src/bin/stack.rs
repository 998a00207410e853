//! The whole engine: timeout, the default retries, dead letters, counters, panic isolation.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::time::Duration;

use bench::{Shape, Subject, engine, jobs, ring};
use queue::{Queue, Ring};

struct Stack;

impl Subject for Stack {
    type Worker = Ring<u64>;
    const NAMES: &'static [&'static str] = &["stack"];
    const SHAPES: &'static [Shape] = Shape::ALL;

    fn start(_: &str, slots: usize) -> Queue<Self::Worker> {
        let worker = ring().build().expect("a valid ring");
        let builder = Queue::with_worker(worker).slots(slots).timeout(Duration::from_secs(30));
        builder.start(jobs::no_op).expect("a valid queue")
    }
}

fn main() {
    engine::<Stack>();
}
