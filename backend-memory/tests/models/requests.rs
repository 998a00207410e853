//! Waiting requests, and the one call that is in flight among them.

use std::collections::VecDeque;

use queue_core::Worker;

use crate::common::{Deliveries, check, jobs, poll_once, ring, spawn, take};

/// a job meets a request that sits down.
///
/// Guards: the enqueue's call, and that a request sits down under the lock under which it found nothing.
fn a_job_reaches_a_request() {
    let ring = ring(4, 0);
    let request = spawn(&ring, |ring| take(&ring, 4).unwrap());
    ring.try_one(7).unwrap();
    assert_eq!(request.join().unwrap(), [7]);
}

/// of two requests one is dropped, called or not; the job reaches the other.
///
/// Guards: `Sitting`'s drop, which passes the call on; the call of `give_back`.
fn a_dropped_request_passes_its_call_on() {
    let ring = ring(4, 0);
    let stays = spawn(&ring, |ring| take(&ring, 4).unwrap());
    let dropped = spawn(&ring, |ring| {
        let mut into = Deliveries::new();
        if poll_once(ring.request(4, &mut into)).is_some() {
            ring.give_back(&mut into);
        }
        assert!(into.is_empty());
    });
    ring.try_one(7).unwrap();
    dropped.join().unwrap();
    assert_eq!(stays.join().unwrap(), [7]);
}

/// two jobs are one call; who is called takes one, and calls the other request for the other job.
///
/// Guard: the call that `State::take` makes while there is more.
fn the_call_is_handed_on_while_there_is_more() {
    let ring = ring(4, 0);
    let requests = [(); 2].map(|()| spawn(&ring, |ring| take(&ring, 1).unwrap()));
    ring.try_one(1).unwrap();
    ring.try_one(2).unwrap();
    let mut taken: Vec<_> = requests.into_iter().flat_map(|request| request.join().unwrap()).collect();
    taken.sort_unstable();
    assert_eq!(taken, [1, 2]);
}

/// two jobs and three requests, of which one is dropped: both jobs are taken, each once.
///
/// Guards: those of the two models before, together.
fn a_dropped_request_among_three() {
    let ring = ring(4, 0);
    let stay = [(); 2].map(|()| spawn(&ring, |ring| take(&ring, 1).unwrap()));
    let dropped = spawn(&ring, |ring| {
        let mut into = VecDeque::new();
        if poll_once(ring.request(1, &mut into)).is_some() {
            ring.give_back(&mut into);
        }
        jobs(into)
    });
    ring.try_one(1).unwrap();
    ring.try_one(2).unwrap();
    assert!(dropped.join().unwrap().is_empty());
    let mut taken: Vec<_> = stay.into_iter().flat_map(|request| request.join().unwrap()).collect();
    taken.sort_unstable();
    assert_eq!(taken, [1, 2]);
}

///
#[test]
fn job_meets_a_request_that_sits_down() {
    check(3, a_job_reaches_a_request);
}

///
#[test]
fn call_of_a_dropped_request_is_passed_on() {
    check(3, a_dropped_request_passes_its_call_on);
}

///
#[test]
fn call_is_handed_on_while_there_is_more() {
    check(3, the_call_is_handed_on_while_there_is_more);
}

#[test]
#[ignore = "large: `cargo xtask release-check` runs it"]
fn large_requests() {
    check(5, a_dropped_request_passes_its_call_on);
    check(5, the_call_is_handed_on_while_there_is_more);
    check(3, a_dropped_request_among_three);
}
