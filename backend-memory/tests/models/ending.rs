//! The end of the ring against those who use it.

use std::collections::VecDeque;

use queue_core::{RequestError, Worker};
use tokio::time::Instant;

use crate::common::{Shared, block_on, check, jobs, queue, ring, spawn, take};

/// Takes jobs until the ring is closed.
fn run(ring: &Shared) -> Vec<u64> {
    let mut ran = Vec::new();
    loop {
        match take(ring, 4) {
            Ok(jobs) => ran.extend(jobs),
            Err(RequestError::Closed) => return ran,
            Err(error) => panic!("{error}"),
        }
    }
}

fn shut_down(ring: &Shared) -> Vec<u64> {
    let mut unrun = VecDeque::new();
    block_on(ring.shutdown(Instant::now(), &mut unrun)).unwrap();
    jobs(unrun)
}

/// an enqueue and a request meet a shutdown; what was accepted was taken or handed over, and both end.
///
/// Guards: `closed` asked under the lock under which a job is pushed; the calls of all requests in `close`.
fn a_shutdown_loses_nothing(enqueuers: u64) {
    let ring = ring(4, 0);
    let slot = spawn(&ring, |ring| run(&ring));
    let enqueuers: Vec<_> = (0..enqueuers).map(|job| spawn(&ring, move |ring| ring.try_one(job).is_ok())).collect();
    let mut seen = shut_down(&ring);
    seen.extend(slot.join().unwrap());
    let accepted: Vec<_> = enqueuers.into_iter().map(|enqueuer| enqueuer.join().unwrap()).collect();
    let accepted: Vec<_> = (0..).zip(accepted).filter(|(_, accepted)| *accepted).map(|(job, _)| job).collect();
    seen.sort_unstable();
    assert_eq!(seen, accepted);
    assert!(ring.is_empty() && shut_down(&ring).is_empty());
}

/// the same where the enqueuer waits for room: it is accepted, or has its job back.
fn a_shutdown_meets_an_enqueuer_that_waits() {
    let ring = ring(1, 1);
    let slot = spawn(&ring, |ring| run(&ring));
    let enqueuer = spawn(&ring, |ring| queue(&ring, 1));
    let mut seen = shut_down(&ring);
    seen.extend(slot.join().unwrap());
    seen.sort_unstable();
    let accepted = enqueuer.join().unwrap();
    assert_eq!(seen, if accepted { vec![0, 1] } else { vec![0] });
}

///
#[test]
fn shutdown_meets_an_enqueue_and_a_request() {
    check(3, || a_shutdown_loses_nothing(1));
}

///
#[test]
fn shutdown_meets_a_waiting_enqueuer() {
    check(3, a_shutdown_meets_an_enqueuer_that_waits);
}

#[test]
#[ignore = "large: `cargo xtask release-check` runs it"]
fn large_ending() {
    check(5, || a_shutdown_loses_nothing(1));
    check(3, || a_shutdown_loses_nothing(2));
    check(5, a_shutdown_meets_an_enqueuer_that_waits);
}
