//! The backing array: when it grows, when it shrinks, and what it keeps.

use std::sync::Arc;

use backend_memory::Ring;
use queue_core::Worker;

use crate::common::{drain, job, pop, push, push_all, refused, shutdown, take_one};

///
#[test]
fn the_ring_doubles_when_full_and_halves_at_a_quarter() {
    let ring = Ring::new();
    assert_eq!(ring.cells(), 2);
    push_all(&ring, 0..16);
    assert_eq!(ring.cells(), 16);
    assert_eq!(pop(&ring, 8), (0..8).collect::<Vec<_>>());
    assert_eq!(ring.cells(), 16);
    assert_eq!((pop(&ring, 3), ring.cells()), (vec![8, 9, 10], 16));
    assert_eq!((pop(&ring, 1), ring.cells()), (vec![11], 8));
    push_all(&ring, 16..22);
    assert_eq!(drain(&ring), (12..22).collect::<Vec<_>>());
    assert_eq!(ring.cells(), 2);
}

///
#[test]
fn a_block_pop_leaves_the_cells_of_single_pops() {
    let (block, single) = (Ring::new(), Ring::new());
    push_all(&block, 0..1_024);
    push_all(&single, 0..1_024);
    let taken = pop(&block, 1_020);
    let one_by_one: Vec<_> = (0..1_020).flat_map(|_| pop(&single, 1)).collect();
    assert_eq!(taken, one_by_one);
    assert_eq!((block.len(), block.cells()), (4, 8));
    assert_eq!((single.len(), single.cells()), (4, 8));
}

///
#[test]
fn the_floor_is_there_from_the_start_and_after_any_drain() {
    let with = |floor, capacity: usize| Ring::builder().capacity(capacity).floor(floor).build::<u32>().unwrap();
    let cases = [(0, 1_000, 2..=2), (1, 1_000, 2..=2), (100, 1_000, 100..=128), (5_000, 1_000, 1_000..=1_024)];
    for (floor, capacity, kept) in cases {
        let ring = with(floor, capacity);
        assert!(kept.contains(&ring.cells()), "floor {floor}: {} cells at the start", ring.cells());
        for left in [900, 30, 1, 0] {
            push_all(&ring, 0..1_000);
            while ring.len() > left {
                pop(&ring, 1);
                assert!(ring.cells() >= *kept.start());
            }
            drain(&ring);
            assert!(kept.contains(&ring.cells()), "floor {floor}: {} cells after a drain", ring.cells());
        }
    }
    assert_eq!(Ring::<u32>::new().cells(), 2);
}

///
#[test]
fn a_floor_changes_neither_order_nor_refusals() {
    let ring = Ring::builder().capacity(16).floor(8).build().unwrap();
    for round in 0..50 {
        let first = round * 100;
        push_all(&ring, first..first + 16);
        assert_eq!(refused(&ring, 7).1, 7);
        assert_eq!(pop(&ring, 5), (first..first + 5).collect::<Vec<_>>());
        push_all(&ring, first + 16..first + 21);
        assert_eq!(drain(&ring), (first + 5..first + 21).collect::<Vec<_>>());
        assert_eq!(ring.cells(), 8);
    }
    ring.close();
    assert_eq!(refused(&ring, 8).1, 8);
}

///
#[test]
fn a_popped_job_leaves_nothing_behind() {
    for floor in [0, 64] {
        let ring = Ring::builder().floor(floor).build().unwrap();
        let shared = Arc::new(());
        for _ in 0..20 {
            push(&ring, shared.clone());
        }
        for left in (0..20).rev() {
            drop(job(take_one(&ring)));
            assert_eq!(Arc::strong_count(&shared), 1 + left);
        }
        push(&ring, shared.clone());
        drop(shutdown(&ring));
        assert_eq!(Arc::strong_count(&shared), 1);
        assert!(ring.cells() >= floor);
    }
}
