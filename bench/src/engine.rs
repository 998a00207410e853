//! One run of a whole queue.

use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::time::Duration;

use queue::{Queue, Worker};
use tokio::runtime::{Builder, Runtime};

use crate::measure::{Row, measure};
use crate::{Floor, floors, jobs, now};

/// The capacity of the rings under test, and their floor: no run resizes one.
pub const CAPACITY: usize = 1_024;

/// Which runtime a row runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flavor {
    /// The current thread's.
    Ct,
    /// Two workers.
    Mt2,
}

/// A row of a [`Subject`]: the runtime, and how many enqueue for how many slots.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    flavor: Flavor,
    producers: u64,
    slots: usize,
}

impl Shape {
    /// On the runtime of the current thread.
    #[must_use]
    pub const fn ct(producers: u64, slots: usize) -> Self {
        Self { flavor: Flavor::Ct, producers, slots }
    }

    /// On a runtime of two workers.
    #[must_use]
    pub const fn mt2(producers: u64, slots: usize) -> Self {
        Self { flavor: Flavor::Mt2, producers, slots }
    }

    /// One thread pays the lock alone, two contend for it.
    const fn floor(self) -> Floor {
        match self.flavor {
            Flavor::Ct => floors::L1,
            Flavor::Mt2 => floors::C,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flavor = if self.flavor == Flavor::Ct { "ct" } else { "mt2" };
        write!(f, "{flavor}/{}-{}", self.producers, self.slots)
    }
}

/// A queue under test.
pub trait Subject: 'static {
    /// Its worker.
    type Worker: Worker<Job = u64>;
    /// The first part of its rows' names.
    const NAME: &'static str;
    /// Its rows.
    const SHAPES: &'static [Shape];
    /// How many jobs a run has.
    const JOBS: u64 = 400_000;
    /// The floor, where it is not that of the shape.
    const FLOOR: Option<Floor> = None;

    /// Starts the queue, inside the runtime.
    fn start(slots: usize) -> Queue<Self::Worker>;

    /// Enqueues these jobs.
    #[must_use]
    fn produce(queue: Queue<Self::Worker>, jobs: Range<u64>) -> impl Future<Output = ()> + Send {
        async move {
            for job in jobs {
                queue.enqueue(job).await.expect("an open ring takes every job");
            }
        }
    }
}

/// Measures a queue, as the command line says.
pub fn engine<S: Subject>() {
    let (ct, mt2) = (runtime(Flavor::Ct), runtime(Flavor::Mt2));
    let rows = S::SHAPES.iter().map(|&shape| {
        let runtime = if shape.flavor == Flavor::Ct { &ct } else { &mt2 };
        let run = move |jobs| run::<S>(runtime, shape, jobs);
        Row::new(format!("{}/{shape}", S::NAME), S::JOBS, run).over(S::FLOOR.unwrap_or_else(|| shape.floor()))
    });
    measure(rows.collect());
}

fn runtime(flavor: Flavor) -> Runtime {
    let mut builder = match flavor {
        Flavor::Ct => Builder::new_current_thread(),
        Flavor::Mt2 => Builder::new_multi_thread(),
    };
    builder.worker_threads(2).enable_time().build().expect("a runtime starts")
}

/// From the first enqueue until all jobs have run and all slots have ended.
fn run<S: Subject>(runtime: &Runtime, shape: Shape, jobs: u64) -> Duration {
    runtime.block_on(async {
        let before = jobs::sum();
        let queue = S::start(shape.slots);
        // The slots come to their first request: starting them is not what is measured.
        for _ in 0..4 * shape.slots {
            tokio::task::yield_now().await;
        }
        let start = now();
        let part = |nth| jobs * nth / shape.producers;
        let producers: Vec<_> = (0..shape.producers)
            .map(|nth| runtime.spawn(S::produce(queue.clone(), part(nth)..part(nth + 1))))
            .collect();
        for producer in producers {
            producer.await.expect("a producer does not panic");
        }
        let report = queue.shutdown(Duration::from_secs(60)).await.expect("a ring ends cleanly");
        let wall = start.elapsed();
        let stats = report.stats();
        assert_eq!((stats.accepted, stats.done, report.unrun()), (jobs, jobs, 0), "{shape}: the report is wrong");
        assert_eq!(jobs::sum().wrapping_sub(before), jobs::sum_of(jobs), "{shape}: jobs were lost or doubled");
        wall
    })
}
