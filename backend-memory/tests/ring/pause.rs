//! Paused: nothing starts, everything is kept, nothing is lost when it goes on.

use std::time::Duration;

use backend_memory::Ring;
use queue_core::{Inspects, Pauses, RequestError, Worker};
use tokio::time::advance;

use crate::common::{Task, drain, jobs, now, push, push_all, push_later, request, run, shutdown, take};

fn requests<W: Worker<Job = u32>>(worker: &W, count: usize) -> Vec<Task<'_, Vec<u32>>> {
    (0..count).map(|_| Task::waiting(async move { jobs(request(worker, 1).await.unwrap()) })).collect()
}

fn nothing_starts<W: Worker<Job = u32> + Pauses + Inspects>(worker: &W) {
    let mut waiting = requests(worker, 3);
    push(worker, 1);
    now(worker.pause()).unwrap();
    assert!(now(worker.is_paused()).unwrap());
    push(worker, 2);
    push(worker, 3);
    assert!(run(&mut waiting).is_empty(), "not even a request that was called before");
    assert!(take(worker, 64).is_empty());
    assert_eq!(now(worker.inspect()).unwrap().ready, 3);
    now(worker.unpause()).unwrap();
    assert!(!now(worker.is_paused()).unwrap());
    assert_eq!(run(&mut waiting), [[1], [2], [3]]);
}

///
#[test]
fn a_paused_ring_hands_nothing_out() {
    nothing_starts(&Ring::new());
    nothing_starts(&Ring::new().boxed());
}

///
#[tokio::test(start_paused = true)]
async fn what_is_due_while_paused_comes_after_it() {
    let ring = Ring::new();
    let mut waiting = requests(&ring, 3);
    push_later(&ring, 1, Duration::from_millis(50));
    push_later(&ring, 2, Duration::from_millis(200));
    run(&mut waiting);
    now(ring.pause()).unwrap();
    advance(Duration::from_millis(100)).await;
    assert!(run(&mut waiting).is_empty());
    let wakes: usize = waiting.iter().map(Task::wakes).sum();
    advance(Duration::from_millis(50)).await;
    assert_eq!(waiting.iter().map(Task::wakes).sum::<usize>(), wakes, "a paused ring needs no time");
    now(ring.unpause()).unwrap();
    assert_eq!(run(&mut waiting), [[1]]);
    advance(Duration::from_millis(51)).await;
    assert_eq!(run(&mut waiting), [[2]]);
}

///
#[tokio::test(start_paused = true)]
async fn a_keeper_that_is_dropped_while_paused_is_replaced_after_it() {
    let ring = Ring::new();
    let mut waiting = requests(&ring, 2);
    push_later(&ring, 1, Duration::from_millis(100));
    let keeper = waiting.iter().position(Task::is_woken).unwrap();
    assert!(waiting[keeper].poll().is_pending());
    now(ring.pause()).unwrap();
    drop(waiting.remove(keeper));
    now(ring.unpause()).unwrap();
    run(&mut waiting);
    advance(Duration::from_millis(101)).await;
    assert_eq!(run(&mut waiting), [[1]]);
}

///
#[test]
fn a_paused_ring_ends_with_what_it_has() {
    let ring = Ring::new();
    push_all(&ring, 0..3);
    now(ring.pause()).unwrap();
    ring.close();
    assert!(matches!(now(request(&ring, 1)), Err(RequestError::Closed)), "nothing that it may hand out now");
    assert_eq!(jobs(shutdown(&ring)), [0, 1, 2]);
    now(ring.unpause()).unwrap();
    assert!(drain(&ring).is_empty());
}
