//! The end of a queue against those who use it.

use std::future::pending;
use std::time::Duration;

use tokio::time::Instant;

use super::Part::Whole;
use super::{LONG, Running, block_on, check, report, start};
use crate::OnShutdown;

/// an enqueue and a slot meet a shutdown; an accepted job has run or is in the report, and the shutdown ends.
///
/// Guards: what `Shared::end` tells when a slot has ended; `closed` asked under the lock under which a job is pushed.
fn a_shutdown_meets_an_enqueue(slots: usize, on_shutdown: OnShutdown) {
    let running = Running::new(slots);
    let counted = running.clone();
    let queue = start(slots, on_shutdown, move |_| {
        let running = counted.clone();
        async move {
            running.start();
            running.stop();
        }
    });
    let enqueuer = queue.enqueuer();
    let enqueuer = loom::thread::spawn(move || block_on(enqueuer.enqueue(0)).is_ok());
    let handle = queue.clone();
    let report = queue.end(LONG);
    let accepted = u64::from(enqueuer.join().unwrap());
    assert_eq!(report.stats().done + report.unrun() as u64, accepted);
    let stats = handle.stats();
    assert_eq!((stats.accepted, stats.rejected), (accepted, 1 - accepted));
    running.assert_held();
}

/// A shutdown without time cancels a handler that waits for ever, whenever that began to wait, and hands its job over.
///
/// Guards: the wakes of the slots in `Shared::enter`; the two fences, of `Control::changed` and `Slot::runs`.
fn a_shutdown_cancels_a_handler_that_waits() {
    let queue = start(1, OnShutdown::Drain, |_| pending());
    block_on(queue.enqueue(7)).unwrap();
    let jobs: Vec<_> = queue.end(Duration::ZERO).take_unrun().into_iter().map(|unrun| unrun.job.unwrap()).collect();
    assert_eq!(jobs, [7]);
}

/// Two ask for the end at once: one of them runs it, and both have the report of the whole.
///
/// Guard: the last word of the shutdown's task to those who wait.
fn two_shutdowns_are_one() {
    let queue = start(1, OnShutdown::Drain, |_| async {});
    block_on(queue.enqueue(0)).unwrap();
    let other = queue.clone();
    let ask = |queue: &crate::Queue<crate::Ring<u64>>| {
        let deadline = Instant::now() + LONG;
        if let Some(rest) = queue.0.shared.close(deadline) {
            block_on(rest);
        }
        report(queue, deadline).stats().done
    };
    let other = loom::thread::spawn(move || ask(&other));
    assert_eq!(ask(&queue), 1);
    assert_eq!(other.join().unwrap(), 1);
    queue.join();
}

///
#[test]
fn draining_shutdown_meets_an_enqueue() {
    check(2, Whole, |_| a_shutdown_meets_an_enqueue(1, OnShutdown::Drain));
}

///
#[test]
fn returning_shutdown_meets_an_enqueue() {
    check(2, Whole, |_| a_shutdown_meets_an_enqueue(1, OnShutdown::Return));
}

#[test]
fn shutdown_cancels_a_handler_that_begins_to_wait() {
    check(2, Whole, |_| a_shutdown_cancels_a_handler_that_waits());
}

#[test]
fn shutdowns_that_meet_are_one() {
    check(2, Whole, |_| two_shutdowns_are_one());
}

#[test]
#[ignore = "large: `cargo xtask release-check` runs it"]
fn large_shutdowns() {
    check(3, Whole, |_| a_shutdown_meets_an_enqueue(1, OnShutdown::Drain));
    check(3, Whole, |_| a_shutdown_meets_an_enqueue(1, OnShutdown::Return));
    check(2, Whole, |_| a_shutdown_meets_an_enqueue(2, OnShutdown::Drain));
    check(3, Whole, |_| a_shutdown_cancels_a_handler_that_waits());
    check(3, Whole, |_| two_shutdowns_are_one());
}
