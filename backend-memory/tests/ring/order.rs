//! In which order jobs are handed out.

use std::collections::VecDeque;
use std::time::Duration;

use backend_memory::Ring;
use queue_core::{Delays, Payload, Priorities, Settled, Settling, Worker};

use crate::common::{
    BACK, drain, job, jobs, now, pop, push, push_all, push_later, push_urgent, retry, settle, take, take_one,
};

fn first_in_first_out<W: Worker<Job = u32>>(worker: &W) {
    push_all(worker, 0..5);
    assert_eq!(pop(worker, 3), [0, 1, 2]);
    push_all(worker, 5..8);
    assert_eq!(pop(worker, 64), [3, 4, 5, 6, 7]);
    let tally = worker.tally();
    assert_eq!((tally.accepted, tally.queued, tally.waiting), (8, 0, 0));
}

///
#[test]
fn jobs_without_options() {
    first_in_first_out(&Ring::new());
    first_in_first_out(&Ring::<u32, _>::once());
    first_in_first_out(&Ring::new().boxed());
}

fn higher_first<W: Worker<Job = u32> + Priorities>(worker: &W) {
    push(worker, 1);
    push_urgent(worker, 2, 5);
    push_urgent(worker, 3, 0);
    push_urgent(worker, 4, 255);
    push_urgent(worker, 5, 5);
    push(worker, 6);
    assert_eq!(pop(worker, 2), [4, 2]);
    push_urgent(worker, 7, 255);
    assert_eq!(pop(worker, 4), [7, 5, 1, 3]);
    assert_eq!(drain(worker), [6]);
}

///
#[test]
fn priorities() {
    higher_first(&Ring::new());
    higher_first(&Ring::new().boxed());
}

fn returned_to_the_head<W: Worker<Job = u32> + Priorities>(worker: &W) {
    push_all(worker, 0..6);
    push_urgent(worker, 10, 1);
    push_urgent(worker, 11, 1);
    let mut first = take(worker, 4);
    let mut second = take(worker, 2);
    push(worker, 6);
    push_urgent(worker, 12, 1);
    // Two slots give back in any order.
    let urgent = first.pop_front().unwrap();
    let ids: Vec<_> = first.iter().map(|delivery| delivery.meta.id).collect();
    worker.give_back(&mut first);
    worker.give_back(&mut second);
    assert!(first.is_empty() && second.is_empty());
    assert_eq!(settle(worker, urgent, BACK), Settled::Done);
    let again = take(worker, 64);
    assert_eq!(again.iter().map(|delivery| delivery.meta.attempt).collect::<Vec<_>>(), [1; 10]);
    assert_eq!(
        again.iter().skip(1).take(1).chain(again.iter().skip(3).take(2)).map(|d| d.meta.id).collect::<Vec<_>>(),
        ids
    );
    assert_eq!(jobs(again), [10, 11, 12, 0, 1, 2, 3, 4, 5, 6]);
}

///
#[test]
fn what_is_handed_back_takes_its_old_place() {
    returned_to_the_head(&Ring::new());
    returned_to_the_head(&Ring::new().boxed());
}

///
#[test]
fn a_batch_of_returns_keeps_its_order() {
    let ring = Ring::new();
    push_all(&ring, 0..6);
    let mut batch: Vec<_> = take(&ring, 4).into_iter().map(|delivery| Settling::new(delivery.into(), BACK)).collect();
    now(ring.settle(&mut batch)).unwrap();
    assert!(batch.iter().all(|settling| settling.answered() == Some(Settled::Done)));
    assert_eq!(drain(&ring), [0, 1, 2, 3, 4, 5]);
    assert!(ring.settle_now(&mut batch), "answered before: nothing happens");
    assert!(ring.is_empty());
}

fn an_attempt_more<W: Worker<Job = u32>>(worker: &W) {
    let id = push(worker, 1);
    push(worker, 2);
    let mut enqueued = None;
    for attempt in 1..=3 {
        let delivery = take_one(worker);
        assert_eq!((delivery.meta.id, delivery.meta.attempt), (id, attempt));
        assert_eq!(*enqueued.get_or_insert(delivery.meta.enqueued), delivery.meta.enqueued);
        settle(worker, delivery, retry(Duration::ZERO));
        assert_eq!(pop(worker, 1), [2], "a retried job goes behind");
        push(worker, 2);
        let delivery = take_one(worker);
        assert_eq!(delivery.meta.attempt, attempt + 1);
        settle(worker, delivery, BACK);
    }
    assert_eq!(pop(worker, 1), [1]);
}

///
#[test]
fn a_retry_spends_an_attempt_and_a_return_none() {
    an_attempt_more(&Ring::new());
    an_attempt_more(&Ring::new().boxed());
}

fn returned_after_a_wait<W: Worker<Job = u32> + Delays>(worker: &W) {
    push_later(worker, 1, Duration::from_millis(5));
    assert!(take(worker, 1).is_empty());
}

///
#[tokio::test(start_paused = true)]
async fn a_return_with_a_wait_spends_no_attempt_and_time() {
    let ring = Ring::new();
    push(&ring, 1);
    settle(&ring, take_one(&ring), queue_core::Verdict::Return { after: Duration::from_millis(50) });
    push(&ring, 2);
    tokio::time::advance(Duration::from_millis(49)).await;
    assert_eq!(drain(&ring), [2]);
    tokio::time::advance(Duration::from_millis(2)).await;
    let again = take_one(&ring);
    assert_eq!((again.meta.attempt, job(again)), (1, 1));
    returned_after_a_wait(&Ring::new().boxed());
}

///
#[test]
fn a_job_that_was_taken_out_cannot_come_back() {
    let ring = Ring::<_, _>::once();
    push(&ring, 1);
    let delivery = take_one(&ring);
    let (job, kept) = delivery.payload.take(true);
    assert_eq!((job.unwrap(), kept.is_none()), (1, true));
    for verdict in [BACK, retry(Duration::ZERO)] {
        let unsettled = queue_core::Unsettled { meta: delivery.meta.clone(), payload: None, receipt: () };
        let mut settling = Settling::new(unsettled, verdict);
        ring.settle_now(std::slice::from_mut(&mut settling));
        assert_eq!(settling.answered(), Some(Settled::Gone));
    }
    assert!(ring.is_empty());
    let mut nothing = VecDeque::new();
    ring.give_back(&mut nothing);
    push(&ring, 2);
    settle(&ring, take_one(&ring), BACK);
    assert_eq!(drain(&ring), [2], "one that did not start comes back");
}
