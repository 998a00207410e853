//! One run of a whole queue.

use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::time::Duration;

use queue::{Queue, Ring, RingBuilder, Worker};
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
    /// Those that promises are made for.
    pub const ALL: &'static [Self] = &[
        Self::ct(1, 1),
        Self::ct(1, 4),
        Self::ct(1, 12),
        Self::ct(1, 16),
        Self::ct(4, 4),
        Self::ct(16, 1),
        Self::ct(16, 16),
        Self::mt2(1, 1),
        Self::mt2(1, 4),
        Self::mt2(1, 12),
        Self::mt2(1, 16),
        Self::mt2(4, 4),
        Self::mt2(16, 1),
        Self::mt2(16, 16),
    ];

    /// One producer and four slots, on both runtimes.
    pub const BOTH: &'static [Self] = &[Self::ct(1, 4), Self::mt2(1, 4)];

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
    #[must_use]
    pub const fn floor(self) -> Floor {
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
    /// Its worker, with jobs that carry a number.
    type Worker: Worker<Job: From<u64>>;
    /// The first part of its rows' names; more than one where only settings differ, never code.
    const NAMES: &'static [&'static str];
    /// Its rows, for each name.
    const SHAPES: &'static [Shape];
    /// How many jobs a run has.
    const JOBS: u64 = 400_000;
    /// The floor, where it is not that of the shape.
    const FLOOR: Option<Floor> = None;
    /// No job ends well.
    const DIES: bool = false;
    /// What counts is how long cores worked, not how long the run took.
    const WORK: bool = false;

    /// Starts the queue, inside the runtime.
    fn start(name: &str, slots: usize) -> Queue<Self::Worker>;

    /// Enqueues these jobs.
    #[must_use]
    fn produce(queue: Queue<Self::Worker>, jobs: Range<u64>) -> impl Future<Output = ()> + Send {
        async move {
            for job in jobs {
                queue.enqueue(job.into()).await.expect("an open ring takes every job");
            }
        }
    }
}

/// The settings of the ring under test: room for [`CAPACITY`] jobs, kept.
pub const fn ring() -> RingBuilder {
    Ring::builder().capacity(CAPACITY).floor(CAPACITY)
}

/// One runtime of each kind.
#[derive(Debug)]
pub struct Runtimes {
    ct: Runtime,
    mt2: Runtime,
}

impl Runtimes {
    /// Starts them.
    #[must_use]
    pub fn start() -> Self {
        // A thread of the blocking pool that ended would take its time on cores along.
        let keep = Duration::from_secs(3_600);
        let start = |mut builder: Builder| {
            builder.worker_threads(2).thread_keep_alive(keep).enable_time().build().expect("a runtime starts")
        };
        Self { ct: start(Builder::new_current_thread()), mt2: start(Builder::new_multi_thread()) }
    }

    /// The one that the shape runs on.
    #[must_use]
    pub const fn of(&self, shape: Shape) -> &Runtime {
        match shape.flavor {
            Flavor::Ct => &self.ct,
            Flavor::Mt2 => &self.mt2,
        }
    }
}

/// Measures a queue, as the command line says.
pub fn engine<S: Subject>() {
    let runtimes = Runtimes::start();
    measure(rows::<S>(&runtimes));
}

/// The rows of a queue.
#[must_use]
pub fn rows<S: Subject>(runtimes: &Runtimes) -> Vec<Row<'_>> {
    let all = S::NAMES.iter().flat_map(|&name| S::SHAPES.iter().map(move |&shape| (name, shape)));
    let row = |(name, shape): (&'static str, Shape)| {
        let run = move |jobs| run::<S>(name, runtimes.of(shape), shape, jobs);
        let row = Row::new(format!("{name}/{shape}"), S::JOBS, run).counting(S::JOBS.min(200_000));
        if S::WORK { row.work() } else { row.over(S::FLOOR.unwrap_or_else(|| shape.floor())) }
    };
    all.map(row).collect()
}

/// From the first enqueue until all jobs have run and all slots have ended.
fn run<S: Subject>(name: &str, runtime: &Runtime, shape: Shape, jobs: u64) -> Duration {
    runtime.block_on(async {
        let before = jobs::sum();
        let queue = S::start(name, shape.slots);
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
        let ended = if S::DIES { stats.dead } else { stats.done };
        assert_eq!((stats.accepted, ended, report.unrun()), (jobs, jobs, 0), "{shape}: the report is wrong");
        assert_eq!(stats.hooks_left_out, 0, "{shape}: calls of the hook were left out");
        assert_eq!(jobs::sum().wrapping_sub(before), jobs::sum_of(jobs), "{shape}: jobs were lost or doubled");
        wall
    })
}
