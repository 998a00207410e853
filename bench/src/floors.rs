//! What the machine itself costs: no queue with this shape can be cheaper.

use std::collections::VecDeque;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::measure::per_job;
use crate::noise::{self, Usage};
use crate::{Options, now};

/// A floor: its name, and how long so many operations take.
#[derive(Debug, Clone, Copy)]
pub struct Floor {
    /// As the table names it.
    pub name: &'static str,
    /// Runs so many operations.
    pub run: fn(u64) -> Duration,
}

/// A push and a pop of std's ring, with one entry in it.
pub const DEQUE_1: Floor = Floor { name: "VecDeque/1", run: deque::<1> };
/// The same with 64 entries.
pub const DEQUE_64: Floor = Floor { name: "VecDeque/64", run: deque::<64> };
/// The same with 1,024 entries.
pub const DEQUE_1024: Floor = Floor { name: "VecDeque/1024", run: deque::<1_024> };
/// Lock and unlock std's mutex, alone.
pub const LOCK_STD: Floor = Floor { name: "std lock", run: lock_std };
/// Lock and unlock parking_lot's mutex, alone.
pub const LOCK: Floor = Floor { name: "lock", run: lock };
/// A lock an enqueue with a push, and pops by 64: what a queue costs on one thread.
pub const L1: Floor = Floor { name: "L1", run: l1 };
/// Two threads that want one parking_lot mutex, an operation: what a queue costs across cores.
pub const C: Floor = Floor { name: "C", run: contended };

/// As large as a delivery of a `u64` in the ring.
type Cell = [u64; 4];

impl Floor {
    /// Nanoseconds an operation: the median of three readings, if nobody disturbed them.
    pub(crate) fn clean(self, options: &Options) -> Option<f64> {
        let operations = options.scale(400_000);
        let mut readings = [0.0; 3];
        let earlier = Usage::now();
        let start = now();
        for reading in &mut readings {
            *reading = per_job((self.run)(operations), operations);
        }
        let wall = start.elapsed();
        if Usage::now().since(earlier).is_noisy(wall) {
            return None;
        }
        readings.sort_by(f64::total_cmp);
        Some(readings[1])
    }
}

fn deque<const BACKLOG: usize>(pairs: u64) -> Duration {
    let mut cells: VecDeque<Cell> = VecDeque::with_capacity(2 * BACKLOG);
    cells.extend((0..BACKLOG).map(|_| [0; 4]));
    let mut sum = 0_u64;
    let start = now();
    for pair in 0..pairs {
        cells.push_back([black_box(pair); 4]);
        sum = cells.pop_front().map_or(sum, |cell| sum.wrapping_add(black_box(cell[0])));
    }
    black_box(sum);
    start.elapsed()
}

fn lock_std(operations: u64) -> Duration {
    let mutex = std::sync::Mutex::new(0_u64);
    let start = now();
    for _ in 0..operations {
        *black_box(&mutex).lock().expect("nothing panics under this lock") += 1;
    }
    start.elapsed()
}

fn lock(operations: u64) -> Duration {
    let mutex = parking_lot::Mutex::new(0_u64);
    let start = now();
    for _ in 0..operations {
        *black_box(&mutex).lock() += 1;
    }
    start.elapsed()
}

fn l1(jobs: u64) -> Duration {
    let ring = std::sync::Mutex::new(VecDeque::with_capacity(1_024));
    let mut taken = Vec::with_capacity(64);
    let mut sum = 0_u64;
    let start = now();
    for job in 0..jobs {
        ring.lock().expect("nothing panics under this lock").push_back(black_box(job));
        if job % 64 == 63 {
            taken.extend(ring.lock().expect("nothing panics under this lock").drain(..));
            taken.drain(..).for_each(|job: u64| sum = sum.wrapping_add(black_box(job)));
        }
    }
    black_box(sum);
    start.elapsed()
}

fn contended(operations: u64) -> Duration {
    let mutex = parking_lot::Mutex::new(0_u64);
    let ready = AtomicUsize::new(0);
    let compete = |core| {
        pin(core);
        ready.fetch_add(1, Ordering::SeqCst);
        while ready.load(Ordering::SeqCst) < 2 {
            spin_loop();
        }
        let start = now();
        for _ in 0..operations / 2 {
            *mutex.lock() += 1;
        }
        let wall = start.elapsed();
        noise::end_thread();
        wall
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| compete(1));
        let one = scope.spawn(|| compete(0));
        [one, other]
            .map(|thread| thread.join().expect("a contender does not panic"))
            .into_iter()
            .max()
            .unwrap_or_default()
    })
}

/// Keeps this thread on the `nth` of the cores that the process may use. Where that fails it runs anywhere.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "std cannot pin a thread")]
fn pin(nth: usize) {
    let size = size_of::<libc::cpu_set_t>();
    // SAFETY: a `cpu_set_t` is an array of integers, for which zeros are a value; both calls get the size of the set that they get, and
    // keep no pointer; the indices are below `CPU_SETSIZE`.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size, &raw mut allowed) != 0 {
            return;
        }
        let cores = usize::try_from(libc::CPU_SETSIZE).unwrap_or(0);
        let Some(core) = (0..cores).filter(|&core| libc::CPU_ISSET(core, &allowed)).nth(nth) else { return };
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut one);
        libc::sched_setaffinity(0, size, &raw const one);
    }
}

#[cfg(not(target_os = "linux"))]
fn pin(_: usize) {}
