//! Enqueuers that wait for room.

use std::collections::VecDeque;

use queue_core::{Entry, Room, Worker};

use crate::common::{check, is_accepted, poll_once, queue, ring, spawn, take};

/// Takes one job at a time, as a slot does whose handlers wait.
const SLOW: usize = 1;

/// An enqueuer that waits is woken when the ring is half empty.
///
/// Guards: the wake at half empty in `State::senders_to_wake`; that an enqueuer is registered under the lock under which
/// it found no room.
fn an_enqueuer_is_woken_at_half_empty() {
    let ring = ring(4, 4);
    let enqueuer = spawn(&ring, |ring| queue(&ring, 4));
    assert_eq!(take(&ring, 2).unwrap(), [0, 1]);
    // Nobody takes the others: this wake is the only one.
    assert!(enqueuer.join().unwrap());
    assert_eq!(take(&ring, 4).unwrap(), [2, 3, 4]);
}

/// Where requests take one job at a time, each job taken wakes an enqueuer, though the ring is more than half full.
///
/// Guard: the branch for slow requests in `State::senders_to_wake`.
fn a_slow_slot_wakes_enqueuers_one_by_one() {
    let ring = ring(4, 4);
    let enqueuers = [4, 5].map(|job| spawn(&ring, move |ring| queue(&ring, job)));
    assert_eq!(take(&ring, SLOW).unwrap(), [0]);
    assert_eq!(take(&ring, SLOW).unwrap(), [1]);
    assert!(enqueuers.into_iter().all(|enqueuer| enqueuer.join().unwrap()));
    assert_eq!(ring.len(), 4);
}

/// One job taken is room for one: of two enqueuers that wait, the woken one is dropped, and the other gets the room.
///
/// Guard: `Waiting`'s drop, which passes the wake on.
fn a_dropped_enqueuer_passes_its_wake_on() {
    let ring = ring(4, 4);
    let stays = spawn(&ring, |ring| queue(&ring, 4));
    let dropped = spawn(&ring, |ring| {
        let mut entries = [Entry::new(5)];
        if poll_once(ring.queue(&mut entries, Room::Wait)).is_some() {
            // It came when there was room: room again for the other.
            assert!(is_accepted(entries, 5));
            assert!(matches!(poll_once(ring.request(SLOW, &mut VecDeque::new())), Some(Ok(()))));
        }
    });
    assert_eq!(take(&ring, SLOW).unwrap(), [0]);
    dropped.join().unwrap();
    assert!(stays.join().unwrap());
    assert_eq!(ring.len(), 4);
}

/// an enqueuer is accepted where there is room, never beyond it, and closing releases those that wait.
///
/// Guard: the wake of all enqueuers in `close`.
fn close_releases_every_enqueuer() {
    let ring = ring(1, 1);
    let enqueuers = [1, 2].map(|job| spawn(&ring, move |ring| queue(&ring, job)));
    ring.close();
    assert!(enqueuers.into_iter().all(|enqueuer| !enqueuer.join().unwrap()));
    assert_eq!(ring.len(), 1);
}

#[test]
fn waiting_enqueuer_is_woken_at_half_empty() {
    check(3, an_enqueuer_is_woken_at_half_empty);
}

#[test]
fn waiting_enqueuers_are_woken_by_a_slow_slot() {
    check(2, a_slow_slot_wakes_enqueuers_one_by_one);
}

#[test]
fn wake_of_a_dropped_enqueuer_is_passed_on() {
    check(3, a_dropped_enqueuer_passes_its_wake_on);
}

#[test]
fn closing_releases_every_enqueuer() {
    check(3, close_releases_every_enqueuer);
}

#[test]
#[ignore = "large: `cargo xtask release-check` runs it"]
fn large_senders() {
    check(5, an_enqueuer_is_woken_at_half_empty);
    check(4, a_slow_slot_wakes_enqueuers_one_by_one);
    check(4, a_dropped_enqueuer_passes_its_wake_on);
    check(4, close_releases_every_enqueuer);
}
