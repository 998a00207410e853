//! The capacity: exact for new jobs, never in the way of those that come back.

use std::collections::VecDeque;
use std::time::Duration;

use backend_memory::{InvalidRing, Ring};
use queue_core::{Answer, Entry, Refusal, Room, Worker};

use crate::common::{
    BACK, drain, extra, jobs, now, pop, push, push_all, push_later, refusal, refused, retry, settle, shutdown, take,
    take_one, try_put,
};

fn ring(capacity: usize) -> Ring<u32> {
    Ring::builder().capacity(capacity).build().unwrap()
}

///
#[test]
fn sixteen_producers_get_exactly_the_capacity() {
    let ring = ring(100);
    let accepted: usize = std::thread::scope(|scope| {
        let produce = |producer: u32| {
            let ring = &ring;
            move || {
                let one = |n: u32| match ring.try_one(producer * 1_000 + n) {
                    Ok(_) => true,
                    Err(job) => {
                        assert_eq!(job, producer * 1_000 + n);
                        assert!(matches!(refused(ring, job), (Refusal::Full, again) if again == job));
                        false
                    }
                };
                (0..1_000).filter(|n| one(*n)).count()
            }
        };
        let producers: Vec<_> = (0..16).map(|producer| scope.spawn(produce(producer))).collect();
        producers.into_iter().map(|producer| producer.join().unwrap()).sum()
    });
    assert_eq!((accepted, ring.len(), ring.tally().accepted), (100, 100, 100));
}

///
#[test]
fn the_last_place_goes_to_one() {
    let ring = ring(1);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for job in 0..3_000_000 {
                    if ring.try_one(job).is_ok() {
                        assert_eq!(ring.len(), 1);
                        assert_eq!(pop(&ring, 1), [job]);
                    }
                }
            });
        }
    });
}

fn two_fit_and_one_more_after_a_pop<W: Worker<Job = u32>>(worker: &W) {
    push(worker, 1);
    push(worker, 2);
    for job in [3, 4] {
        assert!(matches!(refused(worker, job), (Refusal::Full, back) if back == job));
    }
    assert_eq!(pop(worker, 1), [1]);
    push(worker, 5);
    assert!(matches!(refused(worker, 6), (Refusal::Full, 6)));
    assert_eq!(drain(worker), [2, 5]);
}

///
#[test]
fn a_ring_of_two() {
    two_fit_and_one_more_after_a_pop(&ring(2));
    two_fit_and_one_more_after_a_pop(&ring(2).boxed());
}

///
#[test]
fn a_batch_is_accepted_in_order_as_far_as_there_is_room() {
    let ring = ring(3);
    let mut batch: Vec<_> = (0..5).map(Entry::new).collect();
    batch[1].refuse(Refusal::Unroutable);
    now(ring.queue(&mut batch, Room::Refuse)).unwrap();
    let accepted: Vec<_> = batch.iter().map(|entry| entry.accepted().is_some()).collect();
    assert_eq!(accepted, [true, false, true, true, false]);
    assert!(matches!(batch[1].answer(), Answer::Refused(Refusal::Unroutable)), "an answered entry is passed over");
    assert!(matches!(batch[4].answer(), Answer::Refused(Refusal::Full)));
    now(ring.queue(&mut batch, Room::Refuse)).unwrap();
    assert_eq!((ring.len(), ring.tally().accepted), (3, 3));
    assert_eq!(drain(&ring), [0, 2, 3]);
    assert!(matches!(batch[0].reopen(), Answer::Accepted(_)));
    now(ring.queue(&mut batch, Room::Refuse)).unwrap();
    assert_eq!((batch[0].is_open(), ring.len(), ring.tally().accepted), (true, 0, 3), "its job went with the answer");
}

///
#[tokio::test(start_paused = true)]
async fn what_comes_back_is_never_refused() {
    let ring = ring(4);
    push_all(&ring, 0..4);
    let mut unstarted: VecDeque<_> = take(&ring, 2);
    let (third, fourth) = (take_one(&ring), take_one(&ring));
    push_all(&ring, 4..8);
    ring.give_back(&mut unstarted);
    settle(&ring, third, BACK);
    settle(&ring, fourth, retry(Duration::ZERO));
    assert_eq!(ring.len(), 8);
    for left in (4..8).rev() {
        assert!(matches!(refused(&ring, 9), (Refusal::Full, 9)));
        pop(&ring, 1);
        assert_eq!(ring.len(), left);
    }
    assert!(matches!(refused(&ring, 9), (Refusal::Full, 9)));
    assert_eq!(pop(&ring, 1), [5]);
    push(&ring, 9);
    assert_eq!(drain(&ring), [6, 7, 3, 9]);
}

///
#[tokio::test(start_paused = true)]
async fn delayed_jobs_count() {
    let ring = ring(2);
    push_later(&ring, 1, Duration::from_secs(1));
    push_later(&ring, 2, Duration::from_secs(1));
    assert!(matches!(refused(&ring, 3), (Refusal::Full, 3)));
    tokio::time::advance(Duration::from_millis(1_001)).await;
    assert!(matches!(refused(&ring, 3), (Refusal::Full, 3)));
    assert_eq!(pop(&ring, 1), [1]);
    push(&ring, 3);
    assert_eq!(drain(&ring), [2, 3]);
}

///
#[test]
fn a_capacity_of_zero_is_an_error_and_none_is_unlimited() {
    assert!(matches!(Ring::builder().capacity(0).build::<u32>(), Err(InvalidRing::CapacityZero)));
    assert!(matches!(Ring::builder().capacity(0).build_once::<u32>(), Err(InvalidRing::CapacityZero)));
    let ring = Ring::new();
    push_all(&ring, 0..100_000);
    assert_eq!(ring.len(), 100_000);
}

///
#[tokio::test(start_paused = true)]
async fn absurd_settings_are_errors_or_work() {
    let error = Ring::builder().floor(usize::MAX).build::<u64>().unwrap_err();
    assert_eq!(error, InvalidRing::FloorTooLarge { floor: usize::MAX });
    assert!(error.to_string().contains(&usize::MAX.to_string()));
    let least = Ring::builder().capacity(1).floor(usize::MAX).build().unwrap();
    push(&least, 1);
    assert!(matches!(refused(&least, 2), (Refusal::Full, 2)));

    let most = Ring::builder().capacity(usize::MAX).dead_letters(usize::MAX).build().unwrap();
    push_later(&most, 3, Duration::MAX);
    push_later(&most, 4, Duration::from_millis(1));
    assert!(take(&most, usize::MAX).is_empty());
    tokio::time::advance(Duration::from_secs(365 * 24 * 3_600)).await;
    let last = take_one(&most);
    assert_eq!(last.meta.attempt, 1);
    settle(&most, last, retry(Duration::MAX));
    assert!(take(&most, 1).is_empty());
    assert_eq!(jobs(shutdown(&most)), [3, 4]);
}

///
#[test]
fn what_it_cannot_do_is_refused_by_name() {
    let once = Ring::<u32, _>::once();
    let entry = Entry::with_extra(1, extra(|extra| extra.retries = Some(1)));
    let (why, job) = refusal(try_put(&once, entry).unwrap_err());
    assert!(matches!(why, Refusal::Unsupported(queue_core::Feature::Retries)));
    assert_eq!(job, 1);
    assert!(try_put(&once, Entry::with_extra(2, extra(|extra| extra.retries = Some(0)))).is_ok());
}
