//! Cancel by id.

use std::sync::Barrier;
use std::time::Duration;

use backend_memory::Ring;
use queue_core::{Cancels, Delays, JobId, Payload, Priorities, Verdict, Worker};

use crate::common::{BACK, drain, now, push, push_later, push_urgent, settle, take, take_one};

fn cancel<W: Cancels>(worker: &W, id: JobId) -> Option<W::Job> {
    now(worker.cancel(id)).unwrap().map(|payload| payload.take(false).0.unwrap())
}

fn what_has_not_started_comes_back<W: Worker<Job = u32> + Cancels + Delays + Priorities>(worker: &W) {
    let waiting = push(worker, 1);
    let delayed = push_later(worker, 2, Duration::from_secs(60));
    let urgent = push_urgent(worker, 3, 9);
    let (running, ended) = (push_urgent(worker, 4, 200), push_urgent(worker, 5, 100));
    push(worker, 6);
    let running_delivery = take_one(worker);
    settle(worker, take_one(worker), Verdict::Ack);
    assert_eq!(cancel(worker, running), None);
    assert_eq!(cancel(worker, ended), None);
    assert_eq!(cancel(worker, JobId::from(ended.get().wrapping_add(1_000))), None);
    assert_eq!(worker.tally().cancelled, 0);
    for (id, job) in [(waiting, 1), (delayed, 2), (urgent, 3)] {
        assert_eq!(cancel(worker, id), Some(job));
        assert_eq!(cancel(worker, id), None);
    }
    settle(worker, running_delivery, BACK);
    assert_eq!(cancel(worker, running), Some(4));
    let tally = worker.tally();
    assert_eq!((tally.accepted, tally.queued, tally.waiting, tally.cancelled), (6, 1, 0, 4));
    assert_eq!(drain(worker), [6]);
}

///
#[tokio::test(start_paused = true)]
async fn a_job_that_has_not_started_comes_back_once() {
    what_has_not_started_comes_back(&Ring::new());
    what_has_not_started_comes_back(&Ring::<u32, _>::once());
    what_has_not_started_comes_back(&Ring::new().boxed());
}

///
#[test]
fn a_cancel_among_returned_jobs_keeps_the_order() {
    let ring = Ring::new();
    let ids: Vec<_> = (0..8).map(|job| push(&ring, job)).collect();
    let (mut first, mut second) = (take(&ring, 3), take(&ring, 2));
    ring.give_back(&mut second);
    assert_eq!(cancel(&ring, ids[3]), Some(3));
    ring.give_back(&mut first);
    assert_eq!(cancel(&ring, ids[1]), Some(1));
    assert_eq!(cancel(&ring, ids[6]), Some(6));
    let mut again = take(&ring, 1);
    ring.give_back(&mut again);
    assert_eq!(drain(&ring), [0, 2, 4, 5, 7]);
}

///
#[test]
fn a_cancel_and_a_pop_never_both_get_the_job() {
    let (ring, gate) = (Ring::new(), Barrier::new(2));
    let ids: Vec<_> = (0..1_000).map(|job| push(&ring, job)).collect();
    std::thread::scope(|scope| {
        let popper = scope.spawn(|| {
            let mut popped = vec![false; 1_000];
            for _ in 0..1_000 {
                gate.wait();
                take(&ring, 1).into_iter().for_each(|delivery| popped[crate::common::job(delivery)] = true);
            }
            popped
        });
        let cancelled: Vec<_> = ids
            .iter()
            .map(|id| {
                gate.wait();
                cancel(&ring, *id).is_some()
            })
            .collect();
        let popped = popper.join().unwrap();
        // The popper may be one behind at the end: each job was cancelled, popped, or is still there.
        let left = drain(&ring);
        for job in 0..1_000 {
            let owners = u8::from(cancelled[job]) + u8::from(popped[job]) + u8::from(left.contains(&job));
            assert_eq!(owners, 1, "job {job}");
        }
        assert_eq!(ring.tally().cancelled, cancelled.iter().map(|cancelled| u64::from(*cancelled)).sum::<u64>());
    });
}
