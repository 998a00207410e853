//! An allocator that counts while it is told to.
#![allow(
    unsafe_code,
    reason = "a global allocator is an unsafe trait; every call goes to the system's allocator unchanged"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[global_allocator]
static COUNTING: Counting = Counting;

/// Relaxed, both: they are set and read while nothing runs.
static ON: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The system's allocator. While it does not count it costs one load a call.
struct Counting;

fn note() {
    if ON.load(Ordering::Relaxed) {
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every method passes its arguments to `System` as they are and returns what that returns; counting touches no memory of the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller's promise about `layout` is the one `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` came from `System` with this layout, for no other allocator stands behind these methods.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note();
        // SAFETY: as in `dealloc`, and the caller's promise about `size` is the one `System` asks for.
        unsafe { System.realloc(block, layout, size) }
    }
}

/// How often the whole process allocates, or grows an allocation, while `work` runs.
pub(crate) fn count(work: impl FnOnce()) -> u64 {
    COUNT.store(0, Ordering::Relaxed);
    ON.store(true, Ordering::Relaxed);
    work();
    ON.store(false, Ordering::Relaxed);
    COUNT.load(Ordering::Relaxed)
}
