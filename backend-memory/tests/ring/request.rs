//! Waiting requests: idle without cost, called one at a time, no call lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use backend_memory::Ring;
use queue_core::{Clock, Demand, Worker};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::common::{PATIENCE, Task, job, jobs, push, push_all, request, run, take};

fn requests(ring: &Ring<u32>, count: usize, max: usize) -> Vec<Task<'_, Vec<u32>>> {
    (0..count).map(|_| Task::waiting(async move { jobs(request(ring, max).await.unwrap()) })).collect()
}

///
#[tokio::test(start_paused = true)]
async fn a_waiting_request_is_not_woken_before_there_is_a_job() {
    let ring = Ring::new();
    let mut waiting = requests(&ring, 8, 64);
    tokio::time::advance(Duration::from_secs(3_600)).await;
    assert_eq!(waiting.iter().map(Task::wakes).sum::<usize>(), 0);
    push(&ring, 1);
    assert_eq!(waiting.iter().map(Task::wakes).sum::<usize>(), 1);
    assert_eq!(run(&mut waiting), [[1]]);
    assert_eq!(waiting.iter().map(Task::wakes).sum::<usize>(), 0);
}

///
#[test]
fn a_request_answers_one_up_to_max() {
    let ring = Ring::new();
    push_all(&ring, 0..100);
    for (max, got) in [(1, 1), (7, 7), (64, 64), (64, 28)] {
        assert_eq!(take(&ring, max).len(), got);
    }
    let mut waiting = requests(&ring, 1, 64);
    assert!(waiting[0].poll().is_pending(), "polled without need it waits on");
    push_all(&ring, 0..3);
    assert_eq!(run(&mut waiting), [[0, 1, 2]]);
}

///
#[test]
fn a_backlog_is_shared_out_among_the_slots() {
    let ring = Ring::new();
    ring.demand(Demand::of(4));
    let mut waiting = requests(&ring, 4, 64);
    push_all(&ring, 0..80);
    let got = run(&mut waiting);
    assert_eq!(
        got.iter().map(Vec::len).collect::<Vec<_>>(),
        [20, 15, 12, 9],
        "a quarter each of what is left, never below 8"
    );
    assert_eq!(got.concat(), (0..56).collect::<Vec<_>>());
    ring.demand(Demand::of(0));
    assert_eq!(take(&ring, 64).len(), 24);
}

///
#[test]
fn a_burst_costs_one_wake_at_a_time_and_reaches_all() {
    let ring = Ring::new();
    let mut waiting = requests(&ring, 4, 1);
    push_all(&ring, 0..4);
    assert_eq!(waiting.iter().map(Task::wakes).sum::<usize>(), 1);
    assert_eq!(run(&mut waiting), [[0], [1], [2], [3]]);
}

///
#[test]
fn a_called_request_that_is_dropped_passes_the_call_on() {
    let ring = Ring::new();
    let mut waiting = requests(&ring, 5, 64);
    push(&ring, 1);
    for _ in 0..4 {
        let called = waiting.iter().position(Task::is_woken).expect("somebody is called");
        drop(waiting.remove(called));
    }
    assert_eq!(run(&mut waiting), [[1]]);

    let mut idle = requests(&ring, 3, 64);
    drop(idle.remove(1));
    push(&ring, 2);
    push(&ring, 3);
    assert_eq!(run(&mut idle), [[2, 3]], "one that was not called leaves no seat behind");
    drop(idle);
    push(&ring, 4);
    assert_eq!(jobs(take(&ring, 1)), [4]);
}

/// a called task may stand behind another in its thread's queue, where nobody can take it over.
#[tokio::test(start_paused = true)]
async fn a_called_request_that_does_not_look_holds_up_no_other() {
    let ring = Ring::new();
    let mut waiting = requests(&ring, 3, 64);
    push(&ring, 1);
    let stuck = waiting.remove(waiting.iter().position(Task::is_woken).unwrap());
    push(&ring, 2);
    assert!(!waiting.iter().any(Task::is_woken), "a fresh call is trusted");
    tokio::time::advance(4 * Clock::TICK).await;
    push(&ring, 3);
    assert_eq!(run(&mut waiting), [[1, 2, 3]]);
    push(&ring, 4);
    assert_eq!(run(&mut waiting), [[4]]);
    drop(stuck);
}

///
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_are_dropped_lose_no_job_and_no_call() {
    const ROUNDS: u32 = 10_000;
    let ring = Arc::new(Ring::new());
    let (seen, mut handed_out) = mpsc::unbounded_channel();
    let (start, mut rounds) = mpsc::unbounded_channel::<u32>();
    let (ours, theirs) = (ring.clone(), seen.clone());
    // One request a round, dropped after one to three polls: nothing but a passed call helps the other one.
    let fickle = tokio::spawn(async move {
        while let Some(round) = rounds.recv().await {
            let mut request = std::pin::pin!(request(&*ours, 1));
            for _ in 0..=round % 3 {
                let polled = std::future::poll_fn(|cx| Poll::Ready(request.as_mut().poll(cx))).await;
                if let Poll::Ready(got) = polled {
                    got.unwrap().into_iter().for_each(|delivery| seen.send(job(delivery)).unwrap());
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
    });
    let ours = ring.clone();
    let patient = tokio::spawn(async move {
        while let Ok(got) = request(&*ours, 1).await {
            got.into_iter().for_each(|delivery| theirs.send(job(delivery)).unwrap());
        }
    });
    for round in 0..ROUNDS {
        start.send(round).unwrap();
        if round % 2 == 0 {
            tokio::task::yield_now().await;
        }
        push(&*ring, round);
        let got = timeout(PATIENCE, handed_out.recv()).await.expect("a call was lost");
        assert_eq!(got, Some(round));
    }
    drop(start);
    fickle.await.unwrap();
    ring.close();
    patient.await.unwrap();
    assert!(handed_out.try_recv().is_err());
    assert!(ring.is_empty());
}

///
#[test]
fn threads_that_drop_requests_get_each_job_once() {
    const JOBS: usize = 10_000;
    let ring = Ring::<usize>::new();
    let seen: Vec<_> = (0..JOBS).map(|_| AtomicUsize::new(0)).collect();
    let all_pushed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for consumer in 1..=2 {
            let (ring, seen, all_pushed) = (&ring, &seen, &all_pushed);
            scope.spawn(move || {
                let mut random = numbers(consumer);
                while !(all_pushed.load(Ordering::SeqCst) && ring.is_empty()) {
                    let mut task = Task::new(request(ring, 1 + random() % 8));
                    let got = (0..=random() % 3).find_map(|_| match task.poll() {
                        Poll::Ready(got) => Some(got.unwrap()),
                        Poll::Pending => None,
                    });
                    for delivery in got.into_iter().flatten() {
                        seen[job(delivery)].fetch_add(1, Ordering::SeqCst);
                    }
                    std::thread::yield_now();
                }
            });
        }
        push_all(&ring, 0..JOBS);
        all_pushed.store(true, Ordering::SeqCst);
    });
    assert!(seen.iter().all(|count| count.load(Ordering::SeqCst) == 1));
}

/// A small generator, the same on each run.
fn numbers(seed: usize) -> impl FnMut() -> usize {
    let mut state = seed as u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap()
    }
}
