//! Enqueuers that wait for room.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use backend_memory::Ring;
use queue_core::{Cancels, Entry, JobId, Refusal, Room, Worker};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::common::{
    BACK, PATIENCE, Task, drain, enqueue, jobs, now, pop, push, push_all, run, settle, shutdown, take, take_one,
};

type Enqueued = Result<JobId, (Refusal, u32)>;

/// A full ring.
fn full(capacity: u32) -> Ring<u32> {
    let ring = Ring::builder().capacity(capacity as usize).build().unwrap();
    push_all(&ring, 0..capacity);
    ring
}

fn waiting(ring: &Ring<u32>, jobs: std::ops::Range<u32>) -> Vec<Task<'_, Enqueued>> {
    jobs.map(|job| Task::waiting(enqueue(ring, job))).collect()
}

/// E-12
#[test]
fn an_enqueue_waits_until_there_is_room() {
    let ring = full(2);
    let mut senders = waiting(&ring, 10..11);
    assert!(senders[0].poll().is_pending());
    assert_eq!((senders[0].wakes(), ring.tally().accepted), (0, 2));
    assert_eq!(pop(&ring, 1), [0]);
    assert_eq!(run(&mut senders).len(), 1);
    assert_eq!(drain(&ring), [1, 10]);
}

/// E-15
#[test]
fn a_block_pop_lets_all_waiting_enqueuers_in() {
    let ring = full(8);
    let mut senders = waiting(&ring, 10..15);
    assert_eq!(pop(&ring, 8).len(), 8);
    assert!(run(&mut senders).iter().all(Result::is_ok));
    assert!(senders.is_empty());
    assert_eq!(drain(&ring), [10, 11, 12, 13, 14]);
}

/// E-12
#[test]
fn single_pops_wake_one_enqueuer_for_each_place() {
    let ring = full(8);
    let mut senders = waiting(&ring, 10..15);
    for expected in 1..=5 {
        pop(&ring, 1);
        assert_eq!(senders.iter().filter(|sender| sender.is_woken()).count(), 1);
        assert_eq!(run(&mut senders).len(), 1);
        assert_eq!((ring.len(), senders.len()), (8, 5 - expected));
    }
    assert_eq!(drain(&ring), [5, 6, 7, 10, 11, 12, 13, 14]);
}

/// E-12
#[test]
fn what_a_slot_keeps_of_a_batch_is_room() {
    let ring = full(8);
    let mut senders = waiting(&ring, 10..12);
    let mut batch = take(&ring, 3);
    let started = batch.pop_front();
    ring.give_back(&mut batch);
    assert_eq!(run(&mut senders).len(), 1, "one of three did not come back");
    assert_eq!((jobs(started), senders.len()), (vec![0], 1));
}

/// E-12, R-24
#[test]
fn a_cancel_makes_room() {
    let ring = Ring::builder().capacity(8).build().unwrap();
    let ids = push_all(&ring, 0..8);
    let mut senders = waiting(&ring, 10..12);
    assert!(now(ring.cancel(ids[3])).unwrap().is_some());
    assert_eq!(run(&mut senders).len(), 1);
    assert_eq!(drain(&ring), [0, 1, 2, 4, 5, 6, 7, 10]);
}

/// E-16
#[test]
fn a_dropped_enqueue_leaves_nothing_and_passes_its_wake_on() {
    for _ in 0..1_000 {
        let ring = full(1);
        let mut senders = waiting(&ring, 10..14);
        drop(senders.remove(1));
        assert_eq!(pop(&ring, 1), [0]);
        // At half empty all are woken, so the first to be dropped was woken, and so is the next.
        drop(senders.remove(0));
        assert_eq!(ring.tally().accepted, 1);
        let accepted = run(&mut senders);
        assert_eq!((accepted.len(), ring.tally().accepted), (1, 2));
        drop(senders);
        assert_eq!(drain(&ring).len(), 1);
        push(&ring, 1);
    }
}

/// E-16
#[test]
fn a_wake_for_one_place_is_passed_on() {
    let ring = full(8);
    let mut senders = waiting(&ring, 10..13);
    pop(&ring, 1);
    for left in [2, 1] {
        let woken = senders.iter().position(Task::is_woken).expect("one is woken");
        drop(senders.remove(woken));
        assert_eq!(senders.len(), left);
    }
    assert_eq!(run(&mut senders).len(), 1);
    assert_eq!(ring.len(), 8);
}

/// E-16
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_enqueuer_that_gives_up_during_a_pop_loses_no_wake() {
    let ring = Arc::new(full(8));
    for round in 0..1_000 {
        let ours = ring.clone();
        let mut fickle = Box::pin(async move { enqueue(&*ours, 99).await });
        assert!(fickle.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let (waits, registered) = oneshot::channel();
        let (ours, mut waits) = (ring.clone(), Some(waits));
        let patient = tokio::spawn(async move {
            let mut enqueue = std::pin::pin!(enqueue(&*ours, round));
            std::future::poll_fn(|cx| {
                let polled = enqueue.as_mut().poll(cx).map(|answer| answer.is_ok());
                if let Some(waits) = waits.take() {
                    waits.send(()).unwrap();
                }
                polled
            })
            .await
        });
        registered.await.unwrap();
        let gives_up = tokio::spawn(async move { drop(fickle) });
        assert_eq!(take(&*ring, 1).len(), 1);
        assert!(timeout(PATIENCE, patient).await.expect("a wake was lost").unwrap());
        gives_up.await.unwrap();
        assert_eq!((ring.len(), ring.tally().accepted), (8, 9 + u64::from(round)));
    }
}

/// E-83
#[test]
fn close_lets_all_waiting_enqueuers_go() {
    let ring = full(4);
    let mut senders = waiting(&ring, 10..50);
    ring.close();
    let refused: Vec<_> = run(&mut senders).into_iter().map(Result::unwrap_err).collect();
    assert!(refused.iter().all(|(why, _)| matches!(why, Refusal::Closed)));
    let mut back: Vec<_> = refused.into_iter().map(|(_, job)| job).collect();
    back.sort_unstable();
    assert_eq!(back, (10..50).collect::<Vec<_>>());
    assert_eq!((ring.tally().accepted, shutdown(&ring).len()), (4, 4));
}

/// E-12
#[test]
fn a_waiting_batch_fills_the_room_there_is() {
    let ring = full(2);
    pop(&ring, 1);
    let mut batch: Vec<_> = (10..14).map(Entry::new).collect();
    let mut sender = Task::waiting(ring.queue(&mut batch, Room::Wait));
    assert_eq!(pop(&ring, 2), [1, 10]);
    assert!(sender.is_woken());
    assert!(sender.poll().is_pending());
    assert_eq!(pop(&ring, 1), [11]);
    drop(sender);
    let open: Vec<_> = batch.iter().map(Entry::is_open).collect();
    assert_eq!(open, [false, false, false, true], "a dropped call leaves each entry answered or open");
    assert_eq!(drain(&ring), [12]);
}

/// E-12, R-19
#[test]
fn a_woken_enqueuer_that_finds_no_room_waits_on() {
    let ring = full(2);
    let mut senders = waiting(&ring, 10..11);
    let delivery = take_one(&ring);
    settle(&ring, delivery, BACK);
    assert!(senders[0].is_woken());
    assert!(run(&mut senders).is_empty());
    assert_eq!(pop(&ring, 1), [0]);
    assert_eq!(run(&mut senders).len(), 1);
    assert_eq!(drain(&ring), [1, 10]);
}

/// E-16
#[test]
fn an_enqueuer_that_was_served_unwoken_takes_no_wake() {
    let ring = full(8);
    let mut senders = waiting(&ring, 10..12);
    assert_eq!(take(&ring, 2).len(), 2, "above half, and not one at a time: nobody is woken");
    assert!(matches!(senders[0].poll(), Poll::Ready(Ok(_))), "polled for a reason of its own");
    let served = senders.remove(0);
    push(&ring, 20);
    pop(&ring, 1);
    assert!(!served.is_woken());
    assert_eq!(run(&mut senders).len(), 1);
}
