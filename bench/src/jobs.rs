//! What the queues under test run: jobs that add themselves up, so that a lost or doubled one shows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A sum that one thread writes, on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Sum(AtomicU64);

static SUMS: Mutex<Vec<&'static Sum>> = Mutex::new(Vec::new());

thread_local! {
    static SUM: &'static Sum = {
        let sum: &'static Sum = Box::leak(Box::default());
        SUMS.lock().expect("nothing panics under this lock").push(sum);
        sum
    };
}

/// The sum of all jobs that ran so far.
#[must_use]
pub fn sum() -> u64 {
    let sums = SUMS.lock().expect("nothing panics under this lock");
    sums.iter().fold(0, |total, sum| total.wrapping_add(sum.0.load(Ordering::Acquire)))
}

/// The sum of the jobs 0 to `jobs`, without the last.
#[must_use]
pub const fn sum_of(jobs: u64) -> u64 {
    (jobs * jobs.saturating_sub(1)) / 2
}

/// Adds a job, as every handler does once for each that it ends.
#[inline]
pub fn add(job: u64) {
    // One thread writes, so load and store need not be one step. Release, for who reads the sum.
    SUM.with(|sum| sum.0.store(sum.0.load(Ordering::Relaxed).wrapping_add(job), Ordering::Release));
}

/// The handler that does nothing.
#[inline]
pub async fn no_op(job: u64) {
    add(job);
}

/// The handler that keeps a core busy for a microsecond: do slots run side by side?
#[inline]
pub async fn microsecond(job: u64) {
    let start = crate::now();
    while start.elapsed() < Duration::from_micros(1) {
        std::hint::spin_loop();
    }
    add(job);
}
