//! What a job costs with so many already queued: enqueued one by one, taken by 64 as slots do.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::collections::VecDeque;
use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bench::{Row, floors, measure, now};
use queue::Ring;
use queue::core::{Payload, Worker};

/// How many jobs are taken at once.
const SHARE: usize = 64;

/// A ring in which so many jobs wait.
fn filled(backlog: usize) -> Ring<u64> {
    let ring = Ring::builder().floor(backlog + SHARE).dead_letters(0).build().expect("a valid ring");
    for _ in 0..backlog {
        ring.try_one(0).expect("a ring without a limit has room");
    }
    ring
}

/// How many jobs a run has.
const JOBS: u64 = 400_000;

/// The backlog stays as it was. Only the first run fills the ring: the others find it as that one left it. A run of few jobs, which shows
/// that everything works, makes do with a small one.
fn pass(ring: &mut Option<Ring<u64>>, backlog: usize, jobs: u64) -> Duration {
    let backlog = if jobs < JOBS / 10 { backlog.min(10_000) } else { backlog };
    let ring = ring.get_or_insert_with(|| filled(backlog));
    let mut taken = VecDeque::with_capacity(SHARE);
    let mut cx = Context::from_waker(Waker::noop());
    let mut sum = 0_u64;
    ring.clock().tick(now().into());
    let start = now();
    for first in (0..jobs).step_by(SHARE) {
        let end = jobs.min(first + SHARE as u64);
        for job in first..end {
            ring.try_one(black_box(job)).expect("a ring without a limit has room");
        }
        let count = usize::try_from(end - first).unwrap_or(SHARE);
        let request = pin!(ring.request(count, &mut taken)).poll(&mut cx);
        assert!(matches!(request, Poll::Ready(Ok(()))), "a ring with jobs answers at once");
        assert_eq!(taken.len(), count, "a ring with jobs hands out what is asked for");
        for delivery in taken.drain(..) {
            let (job, _) = delivery.payload.take(false);
            sum = sum.wrapping_add(black_box(job).expect("a ring's job needs no decoding"));
        }
    }
    black_box(sum);
    let wall = start.elapsed();
    assert_eq!(ring.len(), backlog, "jobs were lost or doubled");
    wall
}

fn main() {
    let row = |backlog: usize| {
        let mut ring = None;
        Row::new(format!("backlog/{backlog}"), JOBS, move |jobs| pass(&mut ring, backlog, jobs)).over(floors::L1)
    };
    measure([1, 100, 10_000, 1_000_000, 10_000_000].map(row).into());
}
