//! Resizes of a running queue.

use std::sync::Arc;

use tokio::sync::{Notify, Semaphore};

use super::Part::{self, Race, Whole};
use super::{LONG, Running, block_on, check, poll_once, start};
use crate::OnShutdown;

/// Once a resize to 1 is ready, no job starts beside one that runs: neither where a slot had it in its hands, nor later.
///
/// Guards: the growing epoch in `Control::set_target`; the wait for `Slot::seen` in `Queue::resize`.
fn never_more_than_the_new_number(part: Part) {
    let (running, gate) = (Running::new(2), Arc::new(Semaphore::new(0)));
    let (counted, waited) = (running.clone(), gate.clone());
    let queue = start(2, OnShutdown::Drain, move |job| {
        let (running, gate) = (counted.clone(), waited.clone());
        async move {
            running.start();
            if job == 0 {
                drop(gate.acquire().await);
            }
            running.stop();
        }
    });
    block_on(queue.enqueue(0)).unwrap();
    block_on(queue.resize(2)).unwrap();
    part.begin();
    block_on(queue.enqueue(1)).unwrap();
    block_on(queue.resize(1)).unwrap();
    running.set_limit(1);
    gate.add_permits(1);
    running.wait(2);
    part.end();
    assert_eq!(queue.end(LONG).stats().done, 2);
    running.assert_held();
}

/// Who enqueues, beside a resize to 1.
#[derive(Clone, Copy, PartialEq)]
enum Enqueue {
    Before,
    Behind,
    /// On a thread of its own.
    Beside,
}

/// A resize to 1 meets an enqueue: whichever slot the job calls, and whichever ends, one runs it, without help of a shutdown.
///
/// Guard: that `Shared::retire` counts again under its lock, or both slots would end.
fn a_resize_down_loses_no_job(part: Part, enqueue: Enqueue) {
    let done = Arc::new(Notify::new());
    let told = done.clone();
    let queue = start(2, OnShutdown::Drain, move |_| {
        let done = told.clone();
        async move { done.notify_one() }
    });
    block_on(queue.resize(2)).unwrap();
    let enqueuer = queue.enqueuer();
    part.begin();
    let enqueuer = move || block_on(enqueuer.enqueue(0)).unwrap();
    if enqueue == Enqueue::Beside {
        let enqueuer = loom::thread::spawn(enqueuer);
        block_on(queue.resize(1)).unwrap();
        enqueuer.join().unwrap();
    } else if enqueue == Enqueue::Before {
        enqueuer();
        block_on(queue.resize(1)).unwrap();
    } else {
        // It has begun; what the slots make of it is still to come.
        drop(poll_once(queue.resize(1)));
        enqueuer();
    }
    block_on(done.notified());
    part.end();
    assert_eq!(queue.end(LONG).stats().done, 1);
}

/// A resize is ready though a handler waits, whenever that began to wait; the job ends afterwards, or never started.
///
/// Guards: the wakes of the slots in `Owner::resize`; what `Shared::starts_nothing` tells.
fn a_handler_that_waits_holds_up_no_resize(part: Part) {
    let gate = Arc::new(Notify::new());
    let waited = gate.clone();
    let queue = start(1, OnShutdown::Drain, move |_| {
        let gate = waited.clone();
        async move { gate.notified().await }
    });
    part.begin();
    block_on(queue.enqueue(0)).unwrap();
    block_on(queue.resize(0)).unwrap();
    gate.notify_one();
    part.end();
    let report = queue.end(LONG);
    assert_eq!(report.stats().done + report.stats().returned, 1);
}

/// A resize to 0 that nobody waits for, and one to 1 right behind it: a slot is there, the old one or a new one.
///
/// Guard: that `Shared::retire` counts again under its lock.
fn a_resize_up_meets_a_slot_that_ends(part: Part) {
    let done = Arc::new(Notify::new());
    let told = done.clone();
    let queue = start(1, OnShutdown::Drain, move |_| {
        let done = told.clone();
        async move { done.notify_one() }
    });
    part.begin();
    drop(poll_once(queue.resize(0)));
    block_on(queue.resize(1)).unwrap();
    block_on(queue.enqueue(0)).unwrap();
    block_on(done.notified());
    part.end();
    assert_eq!(queue.end(LONG).stats().done, 1);
}

#[test]
fn resize_is_never_exceeded() {
    check(2, Race, never_more_than_the_new_number);
}

#[test]
fn resize_down_meets_an_enqueue() {
    check(2, Race, |part| a_resize_down_loses_no_job(part, Enqueue::Before));
    check(2, Race, |part| a_resize_down_loses_no_job(part, Enqueue::Behind));
}

#[test]
fn resize_meets_a_handler_that_begins_to_wait() {
    check(3, Whole, a_handler_that_waits_holds_up_no_resize);
}

#[test]
fn resize_up_meets_a_slot_that_ends() {
    check(3, Race, a_resize_up_meets_a_slot_that_ends);
}

#[test]
#[ignore = "large: `cargo xtask release-check` runs it"]
fn large_resizes() {
    check(2, Whole, never_more_than_the_new_number);
    check(2, Race, |part| a_resize_down_loses_no_job(part, Enqueue::Beside));
    check(2, Whole, |part| a_resize_down_loses_no_job(part, Enqueue::Before));
    check(4, Whole, a_handler_that_waits_holds_up_no_resize);
    check(3, Whole, a_resize_up_meets_a_slot_that_ends);
}
