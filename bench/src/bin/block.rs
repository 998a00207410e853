//! The ring through the contract, by blocks of 64, against a lock and std's ring doing the same.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::collections::VecDeque;
use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bench::{CAPACITY, Floor, Row, measure, now};
use queue::Ring;
use queue::core::{Entry, Payload, Room, Worker};

/// How many jobs a lock.
const BLOCK: u64 = 64;

const LOCKED: Floor = Floor { name: "locked VecDeque", run: locked };

/// As large as a delivery of a `u64`.
type Cell = [u64; 4];

fn locked(jobs: u64) -> Duration {
    let ring = parking_lot::Mutex::new(VecDeque::<Cell>::with_capacity(CAPACITY));
    let mut taken = VecDeque::with_capacity(CAPACITY);
    let mut sum = 0_u64;
    let start = now();
    for first in (0..jobs).step_by(64) {
        {
            let mut ring = ring.lock();
            ring.extend((first..first + BLOCK).map(|job| [black_box(job); 4]));
        }
        taken.extend(ring.lock().drain(..));
        sum = taken.drain(..).fold(sum, |sum, cell| sum.wrapping_add(black_box(cell[0])));
    }
    black_box(sum);
    start.elapsed()
}

/// Queues 64 jobs with one call and takes them with one.
fn blocks(jobs: u64) -> Duration {
    let ring = Ring::builder().capacity(CAPACITY).floor(CAPACITY).dead_letters(0).build().expect("a valid ring");
    let mut entries = Vec::with_capacity(64);
    let mut taken = VecDeque::with_capacity(CAPACITY);
    let mut cx = Context::from_waker(Waker::noop());
    let jobs = jobs / BLOCK * BLOCK;
    let mut sum = 0_u64;
    ring.clock().tick(now().into());
    let start = now();
    for first in (0..jobs).step_by(64) {
        entries.extend((first..first + BLOCK).map(|job| Entry::new(black_box(job))));
        let queued = pin!(ring.queue(&mut entries, Room::Refuse)).poll(&mut cx);
        assert!(matches!(queued, Poll::Ready(Ok(()))), "a ring answers at once");
        entries.clear();
        let request = pin!(ring.request(64, &mut taken)).poll(&mut cx);
        assert!(matches!(request, Poll::Ready(Ok(()))), "a ring with jobs answers at once");
        for delivery in taken.drain(..) {
            let (job, _) = delivery.payload.take(false);
            sum = sum.wrapping_add(black_box(job).expect("a ring's job needs no decoding"));
        }
    }
    let wall = start.elapsed();
    assert_eq!(sum, bench::jobs::sum_of(jobs), "jobs were lost or doubled");
    wall
}

fn main() {
    measure(vec![Row::new("ring/block/64", 1_000_000, blocks).over(LOCKED)]);
}
