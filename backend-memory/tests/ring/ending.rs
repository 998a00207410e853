//! Close and shutdown: each job is run or handed over.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use backend_memory::Ring;
use queue_core::{DeadLetters, Delays, Entry, JobId, Refusal, RequestError, Worker};

use crate::common::{
    BACK, Task, job, jobs, now, pop, push, push_all, push_later, push_urgent, refusal, refused, request, retry, run,
    settle, shutdown, take, take_one, try_put,
};

fn all_thousand<W: Worker<Job = u32>>(worker: &W) {
    push_all(worker, 0..1_000);
    assert_eq!(jobs(shutdown(worker)), (0..1_000).collect::<Vec<_>>());
    let tally = worker.tally();
    assert_eq!((tally.accepted, tally.queued, tally.handed_over), (1_000, 0, 1_000));
    assert!(shutdown(worker).is_empty());
    assert_eq!(worker.tally(), tally);
    assert!(matches!(refused(worker, 7), (Refusal::Closed, 7)));
}

///
#[test]
fn shutdown_hands_over_a_thousand_jobs_at_once_and_in_order() {
    all_thousand(&Ring::new());
    all_thousand(&Ring::<u32, _>::once());
    all_thousand(&Ring::new().boxed());
}

async fn closed<W: Worker<Job = u32> + Delays>(worker: &W) {
    let mut waiting: Vec<_> = (0..3).map(|_| Task::waiting(request(worker, 1))).collect();
    worker.close();
    worker.close();
    assert!(run(&mut waiting).into_iter().all(|answer| matches!(answer, Err(RequestError::Closed))));
    assert!(waiting.is_empty());
    assert!(matches!(refused(worker, 7), (Refusal::Closed, 7)));
    let delayed = Entry::with_extra(8, crate::common::extra(|extra| extra.delay = Some(Duration::from_secs(1))));
    assert!(matches!(refusal(try_put(worker, delayed).unwrap_err()), (Refusal::Closed, 8)));
    assert!(matches!(now(crate::common::enqueue(worker, 9)), Err((Refusal::Closed, 9))));
}

///
#[tokio::test]
async fn close_ends_waiting_requests_and_refuses_jobs() {
    closed(&Ring::new()).await;
    closed(&Ring::new().boxed()).await;
}

///
#[tokio::test(start_paused = true)]
async fn after_close_what_could_start_is_handed_out_and_the_rest_by_shutdown() {
    let ring = Ring::new();
    push_later(&ring, 20, Duration::from_secs(20));
    push_later(&ring, 10, Duration::from_secs(10));
    push_later(&ring, 5, Duration::from_secs(5));
    push_all(&ring, 0..5);
    push_urgent(&ring, 100, 1);
    ring.close();
    tokio::time::advance(Duration::from_secs(6)).await;
    let mut first = take(&ring, 2);
    let zero = first.pop_back().unwrap();
    assert_eq!((jobs(first), zero.meta.attempt), (vec![100], 1));
    settle(&ring, zero, retry(Duration::ZERO));
    settle(&ring, take_one(&ring), retry(Duration::from_secs(1)));
    let (two, three) = (take_one(&ring), take_one(&ring));
    settle(&ring, two, BACK);
    assert_eq!(pop(&ring, 64), [4], "one that is handed back does not start again");
    assert!(matches!(now(request(&ring, 1)), Err(RequestError::Closed)));
    let unrun = shutdown(&ring);
    let attempts: Vec<_> = unrun.iter().map(|delivery| delivery.meta.attempt).collect();
    assert_eq!((attempts, jobs(unrun)), (vec![1, 1, 2, 2, 1, 1], vec![2, 5, 0, 1, 10, 20]));
    settle(&ring, three, retry(Duration::ZERO));
    let unrun = shutdown(&ring);
    assert_eq!((unrun[0].meta.attempt, jobs(unrun)), (2, vec![3]), "what came back since");
    assert_eq!(ring.tally().handed_over, 7);
}

///
#[test]
fn shutdown_keeps_priorities_and_what_was_returned_in_order() {
    let ring = Ring::new();
    push_all(&ring, 0..4);
    push_urgent(&ring, 10, 2);
    let mut taken = take(&ring, 3);
    push_urgent(&ring, 11, 1);
    ring.give_back(&mut taken);
    assert_eq!(jobs(shutdown(&ring)), [10, 11, 0, 1, 2, 3]);
    assert!(shutdown(&ring).is_empty());
}

///
#[test]
fn no_job_is_lost_between_enqueue_and_shutdown() {
    for round in 0..3_000_u32 {
        let ring = Ring::builder().capacity(16 + round as usize % 16).build().unwrap();
        let started = AtomicUsize::new(0);
        let produce = |first: u32| {
            let (ring, started) = (&ring, &started);
            move || {
                let mut accepted = Vec::new();
                for job in first..first + 30 {
                    match ring.try_one(job) {
                        Ok(_) => accepted.push(job),
                        Err(back) => assert_eq!(back, job),
                    }
                    started.fetch_add(1, Ordering::Relaxed);
                }
                accepted
            }
        };
        std::thread::scope(|scope| {
            let producers = [scope.spawn(produce(0)), scope.spawn(produce(100))];
            while started.load(Ordering::Relaxed) < round as usize % 40 {
                std::thread::yield_now();
            }
            let mut seen = pop(&ring, 5);
            seen.extend(jobs(shutdown(&ring)));
            let mut accepted = producers.map(|producer| producer.join().unwrap()).concat();
            accepted.sort_unstable();
            seen.sort_unstable();
            assert_eq!(accepted, seen);
            assert!(ring.is_empty());
        });
    }
}

///
#[test]
fn ids_are_never_given_twice_and_the_tally_adds_up() {
    let ring = Ring::new();
    let mut ids: HashSet<JobId> = (0..10_000).map(|job| push(&ring, job)).collect();
    assert_eq!(ids.len(), 10_000);
    for delivery in take(&ring, 10) {
        assert!(ids.remove(&delivery.meta.id));
    }
    assert!(now(queue_core::Cancels::cancel(&ring, *ids.iter().next().unwrap())).unwrap().is_some());
    let tally = ring.tally();
    assert_eq!(tally.accepted, tally.queued + tally.waiting + tally.cancelled + 10);
    assert!(now(ring.dead_letters(queue_core::Page::first(1))).unwrap().is_empty());
}

///
#[test]
fn an_id_that_a_job_brings_along_is_kept() {
    let ring = Ring::new();
    let id = JobId::from(77);
    let entry = Entry::with_extra(1, crate::common::extra(|extra| extra.id = Some(id)));
    assert_eq!(crate::common::put(&ring, entry), id);
    let delivery = take_one(&ring);
    assert_eq!((delivery.meta.id, ring.tally().accepted), (id, 1));
    assert_eq!(job(delivery), 1);
}
