//! How long a job waits for its start, in an open loop: jobs come at the times of a schedule, whatever the queue does.
//!
//! A thread of its own keeps the schedule. It spins before each time, so on two cores the queue has the other one. A wait counts from
//! the time of the schedule; where that thread was late itself, the run is void.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use bench::{Runtimes, Shape, Waits, jobs, measure_waits, now};
use queue::{Queue, Ring};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// One job in so many sleeps, where any does.
const SLEEPER: u64 = 500;

/// A hundredth of the jobs may come later than this.
const LATE: Duration = Duration::from_micros(10);

/// What comes when.
#[derive(Debug, Clone, Copy)]
struct Load {
    name: &'static str,
    /// The mean time between two jobs.
    gap: Duration,
    sleepers: bool,
    jobs: u64,
}

const LOADS: [Load; 3] = [
    // Every job finds all slots asleep.
    Load { name: "idle", gap: Duration::from_millis(1), sleepers: false, jobs: 400 },
    Load { name: "steady", gap: Duration::from_micros(10), sleepers: false, jobs: 40_000 },
    // One slot in four sleeps most of the time.
    Load { name: "sleeper", gap: Duration::from_micros(10), sleepers: true, jobs: 40_000 },
];

impl Load {
    /// When each job is due: a gap each, longer or shorter by up to a half.
    fn schedule(self, jobs: u64) -> Vec<Duration> {
        let mut random = 1_u64;
        let mut due = Duration::from_millis(1);
        let times = (0..jobs).map(|_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            due += self.gap / 2 + self.gap.mul_f64(f64::from((random >> 40) as u32) / f64::from(1 << 24));
            due
        });
        times.collect()
    }

    fn sleeps(self, job: u64) -> bool {
        self.sleepers && job % SLEEPER == SLEEPER - 1
    }
}

/// Enqueues each job at its time. How late each was, in order of lateness.
fn keep(schedule: &[Duration], start: Instant, queue: &Queue<Ring<u64>>) -> Vec<Duration> {
    let mut late = Vec::with_capacity(schedule.len());
    let mut cx = Context::from_waker(Waker::noop());
    for (job, &due) in (0..).zip(schedule) {
        let long = due.saturating_sub(start.elapsed());
        if long > Duration::from_micros(300) {
            thread::park_timeout(long - Duration::from_micros(200));
        }
        while start.elapsed() < due {
            std::hint::spin_loop();
        }
        late.push(start.elapsed() - due);
        assert!(pin!(queue.enqueue(job)).poll(&mut cx).is_ready(), "a ring without a limit has room");
    }
    late.sort_unstable();
    late
}

/// The waits of the jobs that do not sleep.
fn run(runtime: &Runtime, load: Load, jobs: u64) -> Option<Vec<Duration>> {
    let schedule = load.schedule(jobs);
    let started: Arc<[AtomicU64]> = (0..jobs).map(|_| AtomicU64::new(0)).collect();
    let start = now();
    let late = runtime.block_on(async {
        let begun = started.clone();
        let handler = move |job: u64| {
            let at = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            // Relaxed: read after the queue has ended.
            begun[usize::try_from(job).unwrap_or(usize::MAX)].store(at, Ordering::Relaxed);
            async move {
                if load.sleeps(job) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                jobs::add(job);
            }
        };
        let ring = Ring::builder().floor(1_024).build().expect("a valid ring");
        let builder = Queue::with_worker(ring).slots(4).timeout(Duration::from_secs(30));
        let queue = builder.start(handler).expect("a valid queue");
        let (ended, end) = oneshot::channel();
        let (times, handle) = (schedule.clone(), queue.clone());
        let keeper = thread::spawn(move || ended.send(keep(&times, start, &handle)).is_ok());
        let late = end.await.expect("the schedule is kept to its end");
        keeper.join().expect("the keeper of the schedule does not panic");
        let report = queue.shutdown(Duration::from_secs(60)).await.expect("a ring ends cleanly");
        assert_eq!((report.stats().accepted, report.stats().done), (jobs, jobs), "the report is wrong");
        late
    });
    if late.get(late.len() * 99 / 100).is_some_and(|&late| late > LATE) {
        return None;
    }
    let wait = |(job, due): (u64, &Duration)| {
        let begun = started.get(usize::try_from(job).ok()?)?.load(Ordering::Relaxed);
        (!load.sleeps(job)).then(|| Duration::from_nanos(begun).saturating_sub(*due))
    };
    Some((0..).zip(&schedule).filter_map(wait).collect())
}

fn main() {
    let runtimes = Runtimes::start();
    let all = LOADS.iter().flat_map(|&load| {
        [("ct", Shape::ct(1, 4)), ("mt2", Shape::mt2(1, 4))].map(|(flavor, shape)| {
            let runtime = runtimes.of(shape);
            Waits::new(format!("wait/{}/{flavor}", load.name), load.jobs, move |jobs| run(runtime, load, jobs))
        })
    });
    measure_waits(all.collect());
}
