//! Jobs that wait for their time, and the request that keeps it.

use std::time::Duration;

use backend_memory::Ring;
use queue_core::{Cancels, Delays, Worker};
use tokio::time::{Instant, advance, timeout};

use crate::common::{
    Task, drain, job, jobs, now, pop, push, push_later, push_urgent, put, request, retry, run, settle, take, take_one,
};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn requests<W: Worker<Job = u32>>(worker: &W, count: usize) -> Vec<Task<'_, Vec<u32>>> {
    (0..count).map(|_| Task::waiting(async move { jobs(request(worker, 64).await.unwrap()) })).collect()
}

async fn not_at_99_but_at_101<W: Worker<Job = u32> + Delays>(worker: &W) {
    let mut waiting = requests(worker, 3);
    push_later(worker, 1, ms(100));
    assert!(run(&mut waiting).is_empty());
    advance(ms(99)).await;
    assert!(run(&mut waiting).is_empty());
    assert!(take(worker, 1).is_empty());
    advance(ms(2)).await;
    assert_eq!(run(&mut waiting), [[1]]);
}

///
#[tokio::test(start_paused = true)]
async fn a_delayed_job_wakes_a_waiting_request_on_time() {
    not_at_99_but_at_101(&Ring::new()).await;
    not_at_99_but_at_101(&Ring::<u32, _>::once()).await;
    not_at_99_but_at_101(&Ring::new().boxed()).await;
}

///
#[tokio::test(start_paused = true)]
async fn a_shorter_delay_that_comes_later_is_first() {
    let ring = Ring::new();
    let mut waiting = requests(&ring, 3);
    push_later(&ring, 4, ms(4_000));
    assert!(run(&mut waiting).is_empty());
    push_later(&ring, 1, ms(1_000));
    assert!(run(&mut waiting).is_empty());
    advance(ms(999)).await;
    assert!(run(&mut waiting).is_empty());
    advance(ms(2)).await;
    assert_eq!(run(&mut waiting), [[1]]);
    advance(ms(2_998)).await;
    assert!(run(&mut waiting).is_empty());
    advance(ms(2)).await;
    assert_eq!(run(&mut waiting), [[4]]);
}

///
#[tokio::test(start_paused = true)]
async fn when_the_keeper_is_dropped_another_keeps_the_time() {
    let ring = Ring::new();
    let mut waiting = requests(&ring, 4);
    push_later(&ring, 1, ms(100));
    for _ in 0..3 {
        let keeper = waiting.iter().position(Task::is_woken).expect("somebody is called to keep the time");
        assert!(waiting[keeper].poll().is_pending());
        advance(ms(10)).await;
        drop(waiting.remove(keeper));
    }
    assert!(run(&mut waiting).is_empty());
    advance(ms(69)).await;
    assert!(run(&mut waiting).is_empty());
    advance(ms(2)).await;
    assert_eq!(run(&mut waiting), [[1]]);
}

///
#[tokio::test(start_paused = true)]
async fn when_the_keeper_is_busy_another_keeps_the_time() {
    let ring = Ring::new();
    let mut waiting = requests(&ring, 3);
    push_later(&ring, 1, ms(100));
    run(&mut waiting);
    for job in [10, 11] {
        push(&ring, job);
        assert_eq!(run(&mut waiting), [[job]]);
    }
    assert_eq!(waiting.len(), 1);
    advance(ms(101)).await;
    assert_eq!(run(&mut waiting), [[1]]);
}

///
#[tokio::test(start_paused = true)]
async fn a_request_that_comes_later_keeps_the_time() {
    let ring = Ring::new();
    push_later(&ring, 1, ms(100));
    advance(ms(50)).await;
    let mut waiting = requests(&ring, 2);
    advance(ms(51)).await;
    assert_eq!(run(&mut waiting), [[1]]);
}

///
#[tokio::test(start_paused = true)]
async fn the_time_of_a_cancelled_job_is_not_the_next_ones() {
    let ring = Ring::new();
    let mut waiting = requests(&ring, 2);
    let first = push_later(&ring, 1, ms(50));
    push_later(&ring, 2, ms(100));
    run(&mut waiting);
    assert!(now(ring.cancel(first)).unwrap().is_some());
    advance(ms(99)).await;
    assert!(run(&mut waiting).is_empty());
    advance(ms(2)).await;
    assert_eq!(run(&mut waiting), [[2]]);
}

///
#[tokio::test(start_paused = true)]
async fn a_retry_waits_its_time_and_wakes() {
    let ring = Ring::new();
    push(&ring, 1);
    let delivery = take_one(&ring);
    let mut waiting: Vec<_> =
        (0..2).map(|_| Task::waiting(async { request(&ring, 1).await.unwrap().pop_front().unwrap() })).collect();
    settle(&ring, delivery, retry(ms(200)));
    run(&mut waiting);
    advance(ms(199)).await;
    assert!(run(&mut waiting).is_empty());
    advance(ms(2)).await;
    let again = run(&mut waiting).pop().unwrap();
    assert_eq!((again.meta.attempt, job(again)), (2, 1));
}

///
#[tokio::test(start_paused = true)]
async fn what_is_due_stands_behind_what_was_ready_and_in_its_priority() {
    let ring = Ring::new();
    push_later(&ring, 3, ms(30));
    push_later(&ring, 1, ms(10));
    push_later(&ring, 2, ms(10));
    let urgent = queue_core::Entry::with_extra(
        4,
        crate::common::extra(|extra| {
            extra.delay = Some(ms(40));
            extra.priority = 1;
        }),
    );
    put(&ring, urgent);
    push(&ring, 0);
    advance(ms(41)).await;
    push_urgent(&ring, 5, 1);
    assert_eq!(pop(&ring, 1), [5]);
    assert_eq!(drain(&ring), [4, 0, 1, 2, 3]);
}

///
#[tokio::test(start_paused = true)]
async fn real_tasks_sleep_until_the_job_is_due() {
    let ring = std::sync::Arc::new(Ring::new());
    let start = Instant::now();
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let ring = ring.clone();
            tokio::spawn(async move { (jobs(request(&*ring, 1).await.unwrap()), start.elapsed()) })
        })
        .collect();
    tokio::task::yield_now().await;
    for (job, delay) in [(4, 4_000), (1, 1_000), (3, 3_000), (2, 2_000)] {
        push_later(&*ring, job, ms(delay));
    }
    let mut got = Vec::new();
    for task in tasks {
        got.push(timeout(ms(10_000), task).await.expect("a job was forgotten").unwrap());
    }
    got.sort();
    for ((jobs, at), expected) in got.iter().zip(1_u32..) {
        assert_eq!(*jobs, [expected]);
        let due = ms(1_000 * u64::from(expected));
        assert!((due..=due + ms(1)).contains(at), "{expected} at {at:?}");
    }
}
