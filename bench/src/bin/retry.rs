//! The whole engine with jobs that fail a few times before they end well: in their slot, without a wait.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::ops::Range;
use std::time::Duration;

use bench::{Shape, Subject, engine, jobs, ring};
use queue::{Context, Queue, Retry, Ring};

struct Failing;

impl Subject for Failing {
    type Worker = Ring<u64>;
    const NAMES: &'static [&'static str] = &["retry/0", "retry/1", "retry/3", "retry/10"];
    const SHAPES: &'static [Shape] = Shape::BOTH;
    const JOBS: u64 = 40_000;

    fn start(name: &str, slots: usize) -> Queue<Self::Worker> {
        let failures: u32 = name.rsplit('/').next().and_then(|word| word.parse().ok()).expect("a name with a number");
        let worker = ring().build().expect("a valid ring");
        let retry = Retry::fixed(failures, Duration::ZERO).inline();
        let builder = Queue::with_worker(worker).slots(slots).timeout(Duration::from_secs(30)).retry(retry);
        builder.state(failures).start(fail_first).expect("a valid queue")
    }

    /// Waits for them, too: a shutdown cuts retries short.
    async fn produce(queue: Queue<Self::Worker>, jobs: Range<u64>) {
        for job in jobs {
            queue.enqueue(job).await.expect("an open ring takes every job");
        }
        queue.idle().await;
    }
}

async fn fail_first(job: u64, cx: Context<u32>) -> Result<(), std::fmt::Error> {
    if cx.attempt() <= *cx.state() {
        return Err(std::fmt::Error);
    }
    jobs::add(job);
    Ok(())
}

fn main() {
    engine::<Failing>();
}
