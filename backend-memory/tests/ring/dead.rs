//! Dead letters: listed, bounded, put back, thrown away.

use backend_memory::Ring;
use queue_core::{Cause, DeadLetters, Entry, Inspects, JobId, Page, Payload, Reason, Unsettled, Verdict, Worker};

use crate::common::{BACK, extra, job, now, put, retry, settle, take, take_one};

fn dead(reason: Reason, error: &str) -> Verdict {
    Verdict::Dead { cause: Box::new(Cause { reason, error: error.into() }) }
}

fn bury<W: Worker<Job = u32>>(worker: &W, job: u32) -> JobId {
    let with = extra(|extra| {
        extra.headers.set("tenant", "north");
        extra.deadline = Some(tokio::time::Instant::now());
    });
    let id = put(worker, Entry::with_extra(job, with));
    settle(worker, take_one(worker), dead(Reason::Permanent, "no such address"));
    id
}

fn list<W: DeadLetters<Job = u32>>(worker: &W, page: Page) -> Vec<(JobId, Option<u32>)> {
    let letters = now(worker.dead_letters(page)).unwrap();
    letters.into_iter().map(|letter| (letter.meta.id, letter.decode().unwrap())).collect()
}

fn kept_listed_and_put_back<W: Worker<Job = u32> + DeadLetters + Inspects>(worker: &W) {
    let id = put(worker, Entry::with_extra(1, extra(|extra| drop(extra.headers.set("tenant", "north")))));
    settle(worker, take_one(worker), retry(std::time::Duration::ZERO));
    settle(worker, take_one(worker), BACK);
    settle(worker, take_one(worker), dead(Reason::AttemptsExhausted, "refused"));
    for _ in 0..3 {
        let mut letters = now(worker.dead_letters(Page::first(10))).unwrap();
        assert_eq!(letters.len(), 1);
        let letter = letters.remove(0);
        assert_eq!((letter.meta.id, letter.meta.attempt), (id, 2));
        assert_eq!(letter.meta.extra.as_ref().unwrap().headers.get("tenant"), Some(&b"north"[..]));
        assert_eq!((letter.cause.reason, &*letter.cause.error), (Reason::AttemptsExhausted, "refused"));
        assert_eq!(letter.decode().unwrap(), Some(1), "listing spends nothing");
    }
    assert_eq!(now(worker.inspect()).unwrap().dead, 1);
    assert!(!now(worker.replay(JobId::from(id.get().wrapping_add(1)))).unwrap());
    assert!(now(worker.replay(id)).unwrap());
    assert!(!now(worker.replay(id)).unwrap());
    assert_eq!(now(worker.inspect()).unwrap().dead, 0);
    let again = take_one(worker);
    assert_eq!((again.meta.id, again.meta.attempt), (id, 1));
    assert_eq!(again.meta.extra.as_ref().unwrap().headers.get("tenant"), Some(&b"north"[..]));
    assert_eq!(job(again), 1);
}

///
#[test]
fn a_dead_letter_keeps_job_id_attempts_and_reason() {
    kept_listed_and_put_back(&Ring::new());
    kept_listed_and_put_back(&Ring::new().boxed());
}

///
#[test]
fn the_list_is_bounded_drops_the_oldest_and_counts() {
    let ring = Ring::builder().dead_letters(3).build().unwrap();
    for job in 0..10 {
        bury(&ring, job);
    }
    let counts = now(ring.inspect()).unwrap();
    assert_eq!((counts.dead, counts.dead_dropped), (3, 7));
    let jobs: Vec<_> = list(&ring, Page::first(10)).into_iter().map(|(_, job)| job).collect();
    assert_eq!(jobs, [Some(7), Some(8), Some(9)]);

    let none = Ring::builder().dead_letters(0).build().unwrap();
    bury(&none, 1);
    let counts = now(none.inspect()).unwrap();
    assert_eq!((counts.dead, counts.dead_dropped), (0, 1));
}

///
#[test]
fn a_page_is_a_part_of_the_list() {
    let ring = Ring::new();
    let ids: Vec<_> = (0..10).map(|job| bury(&ring, job)).collect();
    let page = |skip, limit| list(&ring, Page { skip, limit }).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(page(0, 4), ids[..4]);
    assert_eq!(page(4, 4), ids[4..8]);
    assert_eq!(page(8, 4), ids[8..]);
    assert!(page(10, 4).is_empty() && page(usize::MAX, usize::MAX).is_empty() && page(0, 0).is_empty());
    assert!(now(ring.discard(ids[5])).unwrap());
    assert!(!now(ring.discard(ids[5])).unwrap());
    assert_eq!(page(4, 2), [ids[4], ids[6]]);
}

///
#[test]
fn a_replayed_job_has_a_new_life_without_the_old_deadline() {
    let ring = Ring::new();
    let id = bury(&ring, 1);
    let accepted = ring.tally().accepted;
    assert!(now(ring.replay(id)).unwrap());
    assert_eq!(ring.tally().accepted, accepted + 1);
    let again = take_one(&ring);
    assert_eq!(again.meta.extra.as_ref().unwrap().deadline, None);
    settle(&ring, again, dead(Reason::Permanent, "again"));
    assert_eq!(list(&ring, Page::first(9)), [(id, Some(1))]);
}

///
#[test]
fn a_job_that_never_started_survives_the_listing_of_its_letter() {
    let ring = Ring::<u32, _>::once();
    let id = bury(&ring, 1);
    for _ in 0..2 {
        assert_eq!(list(&ring, Page::first(9)), [(id, None)], "a job that is no Clone is not in a copy");
    }
    assert!(now(ring.replay(id)).unwrap());
    assert_eq!(job(take_one(&ring)), 1);
}

///
#[test]
fn a_closed_ring_keeps_the_letter_that_cannot_be_put_back() {
    let ring = Ring::new();
    let ids: Vec<_> = (0..3).map(|job| bury(&ring, job)).collect();
    ring.close();
    assert!(now(ring.replay(ids[0])).is_err());
    let kept: Vec<_> = ids.iter().copied().zip([0, 1, 2].map(Some)).collect();
    assert_eq!(list(&ring, Page::first(9)), kept, "job and place");
    assert!(take(&ring, 1).is_empty());
}

///
#[test]
fn a_letter_without_its_job_stays_in_its_place() {
    let ring = Ring::<u32, _>::once();
    let ids: Vec<_> = (0..3)
        .map(|job| {
            let id = put(&ring, Entry::new(job));
            let delivery = take_one(&ring);
            let unsettled = Unsettled { meta: delivery.meta, payload: delivery.payload.take(true).1, receipt: () };
            let mut settling = queue_core::Settling::new(unsettled, dead(Reason::AttemptsExhausted, "failed"));
            assert!(ring.settle_now(std::slice::from_mut(&mut settling)));
            id
        })
        .collect();
    let all: Vec<_> = ids.iter().map(|id| (*id, None)).collect();
    assert_eq!(list(&ring, Page::first(9)), all);
    assert!(!now(ring.replay(ids[0])).unwrap(), "there is no job to put back");
    assert_eq!(list(&ring, Page::first(9)), all);
    assert!(now(ring.discard(ids[0])).unwrap());
}
