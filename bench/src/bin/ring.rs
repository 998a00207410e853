//! The ring's FIFO alone against std's: a push and a pop at a steady backlog.
//!
//! The FIFO is private to its crate, and stays so: its source file is compiled in here once more. It has no pop of one: it hands out a
//! share of the backlog at a time, as it does in the ring when four slots ask.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Duration;

use bench::{Row, floors, measure, now};

#[allow(dead_code, unreachable_pub, reason = "the ring uses all of it, this program the half that every job pays for")]
#[path = "../../../backend-memory/src/fifo.rs"]
mod fifo;

/// As large as a delivery of a `u64`.
type Cell = [u64; 4];

/// Pushes a share and takes a share, with `backlog` jobs waiting.
fn pairs(backlog: usize, pairs: u64) -> Duration {
    let share = backlog.div_ceil(4).clamp(8, 64).min(backlog);
    let mut cells = fifo::Fifo::new(VecDeque::<Cell>::with_capacity(fifo::MIN_CELLS));
    for _ in 0..backlog {
        cells.push_back([0; 4]);
    }
    let mut taken = VecDeque::with_capacity(64);
    let (mut sum, mut next) = (0_u64, 0);
    let start = now();
    while next < pairs {
        let end = pairs.min(next + share as u64);
        for pair in next..end {
            cells.push_back([black_box(pair); 4]);
        }
        cells.take(share, &mut taken);
        sum = taken.drain(..).fold(sum, |sum, cell| sum.wrapping_add(black_box(cell[0])));
        next = end;
    }
    let wall = start.elapsed();
    cells.take(usize::MAX, &mut taken);
    sum = taken.iter().fold(sum, |sum, cell| sum.wrapping_add(cell[0]));
    assert_eq!(sum, bench::jobs::sum_of(pairs), "entries were lost or doubled");
    wall
}

fn main() {
    let all = [(1, floors::DEQUE_1), (64, floors::DEQUE_64), (1_024, floors::DEQUE_1024)];
    let row = |(backlog, floor)| {
        Row::new(format!("ring/pair/{backlog}"), 1_000_000, move |count| pairs(backlog, count)).over(floor)
    };
    measure(all.map(row).into());
}
