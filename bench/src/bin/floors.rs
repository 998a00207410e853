//! The floors themselves, as rows.

use bench::{Row, floors, measure};

fn main() {
    let all =
        [floors::DEQUE_1, floors::DEQUE_64, floors::DEQUE_1024, floors::LOCK_STD, floors::LOCK, floors::L1, floors::C];
    let row = |floor: floors::Floor| Row::new(format!("floor/{}", floor.name), 1_000_000, floor.run).counting(0);
    measure(all.map(row).into());
}
