//! How many allocations this thread makes.

// The only way to see each allocation is to be the allocator.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HERE: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

fn count() {
    // At the end of a thread there is nothing to count with.
    if let Ok(()) = HERE.try_with(|here| here.set(here.get() + 1)) {}
}

// SAFETY: each call goes to the system allocator unchanged; the counter allocates nothing.
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

/// How many allocations this thread has made.
pub fn allocations_here() -> usize {
    HERE.with(Cell::get)
}
