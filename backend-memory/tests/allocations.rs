//! How often the ring allocates: the allocator is the process's, so this test has a binary to itself.

#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;
use std::pin::pin;
use std::task::{Context, Waker};

use backend_memory::Ring;
use queue_core::{DeliveryOf, Worker};

thread_local! {
    /// Of this thread only: the test harness allocates on its own one, at any time.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.with(|allocations| allocations.set(allocations.get() + 1));
}

struct Counting;

// SAFETY: each call goes to the system allocator unchanged; the counter has neither an initialiser nor a drop, so it allocates nothing.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is ours.
        unsafe { System.alloc(layout) }
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

/// How many allocations `work` makes.
fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

/// A ring, and room for what is popped.
struct Bench {
    ring: Ring<u64>,
    popped: VecDeque<DeliveryOf<Ring<u64>>>,
}

impl Bench {
    fn new(floor: usize) -> Self {
        Self { ring: Ring::builder().floor(floor).build().unwrap(), popped: VecDeque::with_capacity(2_048) }
    }

    fn push(&self, jobs: usize) {
        for job in 0..jobs {
            assert!(self.ring.try_one(job as u64).is_ok());
        }
    }

    fn pop(&mut self, jobs: usize) {
        for _ in 0..jobs {
            let mut request = pin!(self.ring.request(1, &mut self.popped));
            assert!(request.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
        }
        self.popped.clear();
    }

    fn swing(&mut self, pairs: usize) {
        for _ in 0..pairs {
            self.push(1);
            self.pop(1);
        }
    }
}

fn swings_at(backlog: usize, cells: usize) {
    let mut bench = Bench::new(2);
    bench.push(backlog);
    assert_eq!(bench.ring.cells(), backlog);
    assert_eq!(allocations(|| bench.swing(1)), 1, "one growth");
    assert_eq!(bench.ring.cells(), cells);
    assert_eq!(allocations(|| bench.swing(100_000)), 0);
    let quarter = cells / 4;
    bench.pop(backlog - quarter - 1);
    assert_eq!((bench.ring.len(), bench.ring.cells()), (quarter + 1, cells));
    bench.pop(1);
    assert_eq!((bench.ring.len(), bench.ring.cells()), (quarter, cells / 2));
}

///
#[test]
fn a_backlog_that_swings_allocates_nothing() {
    swings_at(1_024, 2_048);
    swings_at(64, 128);

    let mut kept = Bench::new(1_024);
    let burst = |bench: &mut Bench| {
        bench.push(1_024);
        bench.pop(1_024);
    };
    assert_eq!(allocations(|| (0..20).for_each(|_| burst(&mut kept))), 0);
    let mut least = Bench::new(2);
    assert_eq!(allocations(|| burst(&mut least)), 18, "nine growths and nine halvings");

    let mut waiting = Bench::new(64);
    let round = |bench: &mut Bench| {
        let mut request = pin!(bench.ring.request(64, &mut bench.popped));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(request.as_mut().poll(&mut cx).is_pending());
        assert!(bench.ring.try_one(1).is_ok());
        assert!(request.as_mut().poll(&mut cx).is_ready());
    };
    round(&mut waiting);
    assert_eq!(allocations(|| (0..100).for_each(|_| round(&mut waiting))), 0, "a request that waits and is called");
}
