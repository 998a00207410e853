//! Exact allocation counts: an allocator that counts for all threads of a runtime, runtimes whose own first times are
//! behind them, and a load whose phases can be told apart. A test that uses it has its binary to itself.

// The only way to see each allocation is to be the allocator.
#![allow(unsafe_code)]
#![allow(dead_code, clippy::unwrap_used, clippy::disallowed_methods)]

pub(crate) mod load;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Context, Waker};
use std::time::Duration;

use tokio::runtime::Builder;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The thread that runs the test, and those of its runtimes. The harness has one that allocates when it likes.
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

fn count() {
    if COUNTED.get() {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

struct Counting;

// SAFETY: each call goes to the system allocator unchanged; the counter allocates nothing, and its flag needs no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is ours.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is ours.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is ours.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many allocations there have been.
pub(crate) fn allocations() -> usize {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// How many allocations all threads of the test make while `work` runs.
pub(crate) async fn allocations_of(work: impl Future) -> usize {
    let before = allocations();
    work.await;
    allocations() - before
}

/// Runs `test` on a runtime of one thread and on one of four workers.
pub(crate) fn on_each_runtime(test: impl AsyncFn()) {
    const WORKERS: usize = 4;
    let within = Duration::from_secs(120);
    COUNTED.set(true);
    let one = Builder::new_current_thread().enable_time().build().unwrap();
    one.block_on(async {
        break_in_thread();
        tokio::time::timeout(within, test()).await.unwrap();
    });
    let mut many = Builder::new_multi_thread();
    let many = many.worker_threads(WORKERS).enable_time().on_thread_start(|| COUNTED.set(true)).build().unwrap();
    many.block_on(async {
        break_in_thread();
        break_in_workers(WORKERS).await;
        tokio::time::timeout(within, test()).await.unwrap();
    });
}

/// Runs `test` on a runtime of one thread whose clock is paused: waits take no time.
pub(crate) fn on_paused_runtime(test: impl AsyncFn()) {
    COUNTED.set(true);
    let paused = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    paused.block_on(async {
        break_in_thread();
        tokio::time::timeout(Duration::from_secs(86_400), test()).await.unwrap();
    });
}

/// Each worker once: none leaves the barrier before all have come, so no two of these tasks share one.
async fn break_in_workers(workers: usize) {
    let all = Arc::new(Barrier::new(workers));
    let each = (0..workers).map(|_| {
        let all = all.clone();
        tokio::spawn(async move {
            all.wait();
            break_in_thread();
        })
    });
    for worker in each.collect::<Vec<_>>() {
        worker.await.unwrap();
    }
}

/// What a thread allocates once, at a moment that the scheduler chooses: done now. To be called inside the runtime.
fn break_in_thread() {
    // parking_lot's place for a thread, made when it first has to wait for a lock.
    let lock = parking_lot::Mutex::new(());
    let held = lock.lock();
    assert!(lock.try_lock_for(Duration::from_micros(1)).is_none());
    drop(held);
    // Tokio's list of tasks that yielded, one a worker: never longer than a worker's round has polls, 61 and what they
    // wake. Two wakers in turn, since it skips one that is the last already.
    let wakers = [Waker::noop().clone(), Waker::from(Arc::new(Idle))];
    for waker in wakers.iter().cycle().take(512) {
        assert!(pin!(tokio::task::yield_now()).poll(&mut Context::from_waker(waker)).is_pending());
    }
}

struct Idle;

impl std::task::Wake for Idle {
    fn wake(self: Arc<Self>) {}
}
