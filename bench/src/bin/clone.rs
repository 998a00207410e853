//! The whole engine with jobs of 1 KiB: each is allocated by its producer and cloned when it starts, for a retry may need it.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::time::Duration;

use bench::{Shape, Subject, engine, jobs, ring};
use queue::{Queue, Ring};

struct Clone;

/// A kilobyte that begins with the job's number.
#[derive(Debug, Clone)]
struct Kib(Vec<u8>);

impl From<u64> for Kib {
    fn from(job: u64) -> Self {
        let mut bytes = vec![0; 1_024];
        bytes[..8].copy_from_slice(&job.to_le_bytes());
        Self(bytes)
    }
}

impl Subject for Clone {
    type Worker = Ring<Kib>;
    const NAMES: &'static [&'static str] = &["clone/1024"];
    const SHAPES: &'static [Shape] = Shape::BOTH;
    const JOBS: u64 = 200_000;

    fn start(_: &str, slots: usize) -> Queue<Self::Worker> {
        let worker = ring().build().expect("a valid ring");
        let builder = Queue::with_worker(worker).slots(slots).timeout(Duration::from_secs(30));
        let handler = async |Kib(bytes)| {
            let (number, _) = bytes.split_first_chunk().expect("a job has its number");
            jobs::add(u64::from_le_bytes(*number));
        };
        builder.start(handler).expect("a valid queue")
    }
}

fn main() {
    engine::<Clone>();
}
