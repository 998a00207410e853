//! The ring's FIFO alone against std's: a push and a pop at a steady backlog, at the boundaries of a resize, and in bursts.
//!
//! The FIFO is private to its crate, and stays so: its source file is compiled in here once more. It has no pop of one: it hands out a
//! share of the backlog at a time, as it does in the ring when four slots ask.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Duration;

use bench::{Floor, Row, floors, measure, now};

#[allow(dead_code, unreachable_pub, reason = "the ring uses all of it, this program the half that every job pays for")]
#[path = "../../../backend-memory/src/fifo.rs"]
mod fifo;

/// As large as a delivery of a `u64`.
type Cell = [u64; 4];

/// The most that is taken at once.
const SHARE: usize = 64;

/// How a backlog goes up and down.
#[derive(Debug, Clone, Copy)]
struct Swing {
    name: &'static str,
    /// What waits all the time.
    low: usize,
    /// What comes, and then goes.
    burst: usize,
    /// For how many room is kept.
    floor: usize,
    over: Floor,
}

const SWINGS: [Swing; 9] = [
    Swing { name: "pair/1", low: 1, burst: 1, floor: 0, over: floors::DEQUE_1 },
    Swing { name: "pair/64", low: 64, burst: 16, floor: 0, over: floors::DEQUE_64 },
    Swing { name: "pair/1024", low: 1_024, burst: 64, floor: 0, over: floors::DEQUE_1024 },
    // Where an array that grows when full and halves at half would be copied by each pair.
    Swing { name: "pair/64-65", low: 64, burst: 1, floor: 0, over: floors::DEQUE_64 },
    Swing { name: "pair/1024-1025", low: 1_024, burst: 1, floor: 0, over: floors::DEQUE_1024 },
    Swing { name: "burst/1024", low: 0, burst: 1_024, floor: 0, over: BURST_1024 },
    Swing { name: "burst/1024/kept", low: 0, burst: 1_024, floor: 1_024, over: BURST_1024 },
    Swing { name: "burst/1000000", low: 0, burst: 1_000_000, floor: 0, over: BURST_1000000 },
    Swing { name: "burst/1000000/kept", low: 0, burst: 1_000_000, floor: 1_000_000, over: BURST_1000000 },
];

const BURST_1024: Floor = Floor { name: "VecDeque, filled and drained", run: deque::<1_024> };
const BURST_1000000: Floor = Floor { name: "VecDeque, filled and drained", run: deque::<1_000_000> };

/// Std's ring with room for all.
fn deque<const BURST: u64>(pairs: u64) -> Duration {
    let mut cells: VecDeque<Cell> = VecDeque::new();
    cells.resize(usize::try_from(BURST.min(pairs)).unwrap_or(0), [0; 4]);
    cells.clear();
    let (mut sum, mut next) = (0_u64, 0);
    let start = now();
    while next < pairs {
        let end = pairs.min(next + BURST);
        cells.extend((next..end).map(|pair| [black_box(pair); 4]));
        sum = cells.drain(..).fold(sum, |sum, cell| sum.wrapping_add(black_box(cell[0])));
        next = end;
    }
    black_box(sum);
    start.elapsed()
}

/// So many pushes, and as many pops by shares.
fn pairs(swing: Swing, pairs: u64) -> Duration {
    let Swing { low, burst, floor, .. } = swing;
    let share = burst.min(SHARE);
    let mut cells = fifo::Fifo::new(VecDeque::<Cell>::with_capacity(floor.max(fifo::MIN_CELLS)));
    for _ in 0..low {
        cells.push_back([0; 4]);
    }
    let mut taken = VecDeque::with_capacity(SHARE);
    let (mut sum, mut next) = (0_u64, 0);
    let start = now();
    while next < pairs {
        let end = pairs.min(next + burst as u64);
        for pair in next..end {
            cells.push_back([black_box(pair); 4]);
        }
        while cells.len() > low {
            cells.take(share.min(cells.len() - low), &mut taken);
            sum = taken.drain(..).fold(sum, |sum, cell| sum.wrapping_add(black_box(cell[0])));
        }
        next = end;
    }
    let wall = start.elapsed();
    cells.take(usize::MAX, &mut taken);
    sum = taken.iter().fold(sum, |sum, cell| sum.wrapping_add(cell[0]));
    assert_eq!(sum, bench::jobs::sum_of(pairs), "entries were lost or doubled");
    wall
}

fn main() {
    let row = |swing: Swing| {
        let counting = (4 * swing.burst as u64).max(200_000);
        let run = move |count| pairs(swing, count);
        Row::new(format!("ring/{}", swing.name), 1_000_000, run).over(swing.over).counting(counting)
    };
    measure(SWINGS.map(row).into());
}
