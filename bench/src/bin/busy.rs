//! The whole engine with jobs of a microsecond: do the slots run side by side?
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::num::NonZeroUsize;
use std::time::Duration;

use bench::{Floor, Shape, Subject, engine, jobs, ring};
use queue::{Queue, Ring};

struct Busy;

/// Two workers share the jobs out without a loss; one core has to run them all.
const IDEAL: Floor = Floor { name: "ideal", run: ideal };

fn ideal(jobs: u64) -> Duration {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    Duration::from_micros(jobs) / if cores > 1 { 2 } else { 1 }
}

impl Subject for Busy {
    type Worker = Ring<u64>;
    const NAMES: &'static [&'static str] = &["busy"];
    const SHAPES: &'static [Shape] = &[Shape::mt2(1, 4)];
    const JOBS: u64 = 100_000;
    const FLOOR: Option<Floor> = Some(IDEAL);

    fn start(_: &str, slots: usize) -> Queue<Self::Worker> {
        let worker = ring().build().expect("a valid ring");
        let builder = Queue::with_worker(worker).slots(slots).timeout(Duration::from_secs(30));
        builder.start(jobs::microsecond).expect("a valid queue")
    }
}

fn main() {
    engine::<Busy>();
}
