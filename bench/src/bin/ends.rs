//! The whole engine with jobs that panic, time out, or block a thread: microseconds, beside which it does not matter that one
//! program has them all.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::future::pending;
use std::time::Duration;

use bench::{Runtimes, Shape, Subject, jobs, measure, ring, rows};
use queue::{Queue, Retry, Ring, blocking};

struct Panics;

impl Subject for Panics {
    type Worker = Ring<u64>;
    const NAMES: &'static [&'static str] = &["panic"];
    const SHAPES: &'static [Shape] = Shape::BOTH;
    const JOBS: u64 = 20_000;
    const DIES: bool = true;

    fn start(_: &str, slots: usize) -> Queue<Self::Worker> {
        let worker = ring().build().expect("a valid ring");
        let builder = Queue::with_worker(worker).slots(slots).retry(Retry::none()).timeout(Duration::from_secs(30));
        let handler = async |job| -> () {
            jobs::add(job);
            panic!("as it should");
        };
        builder.start(handler).expect("a valid queue")
    }
}

/// Every job waits until it is stopped, after 5 ms: many at once, or the run would measure the limit.
struct TimesOut;

impl Subject for TimesOut {
    type Worker = Ring<u64>;
    const NAMES: &'static [&'static str] = &["timeout"];
    const SHAPES: &'static [Shape] = &[Shape::ct(1, 1_024), Shape::mt2(1, 1_024)];
    const JOBS: u64 = 8_192;
    const DIES: bool = true;
    const WORK: bool = true;

    fn start(_: &str, slots: usize) -> Queue<Self::Worker> {
        let worker = ring().build().expect("a valid ring");
        let builder = Queue::with_worker(worker).slots(slots).retry(Retry::none()).timeout(Duration::from_millis(5));
        let handler = async |job| {
            jobs::add(job);
            pending::<()>().await;
        };
        builder.start(handler).expect("a valid queue")
    }
}

struct Blocks;

impl Subject for Blocks {
    type Worker = Ring<u64>;
    const NAMES: &'static [&'static str] = &["blocking"];
    const SHAPES: &'static [Shape] = Shape::BOTH;
    const JOBS: u64 = 10_000;

    fn start(_: &str, slots: usize) -> Queue<Self::Worker> {
        let worker = ring().build().expect("a valid ring");
        let builder = Queue::with_worker(worker).slots(slots).timeout(Duration::from_secs(30));
        builder.start(blocking(jobs::add)).expect("a valid queue")
    }
}

fn main() {
    // What a panic prints is not what is measured.
    std::panic::set_hook(Box::new(|_| {}));
    let runtimes = Runtimes::start();
    let all = [rows::<Panics>(&runtimes), rows::<TimesOut>(&runtimes), rows::<Blocks>(&runtimes)];
    measure(all.into_iter().flatten().collect());
}
