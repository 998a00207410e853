//! Jobs that run once, and how often a job is cloned.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use backend_memory::Ring;
use queue_core::{DeadLetters, Delivery, Feature, Page, Payload, Tier, Verdict, Worker};

use crate::common::{BACK, job, now, push, retry, settle, shutdown, take_one};

/// Neither `Clone` nor anything else.
struct Connection(u32);

///
#[test]
fn a_job_that_is_not_clone_is_moved_through() {
    let ring = Ring::<_, _>::once();
    push(&ring, Connection(1));
    push(&ring, Connection(2));
    let first = take_one(&ring);
    settle(&ring, first, BACK);
    assert_eq!(job(take_one(&ring)).0, 1);
    assert_eq!(shutdown(&ring).into_iter().map(|left| job(left).0).collect::<Vec<_>>(), [2]);
}

fn ran<W: Worker<Job = Box<dyn FnOnce() -> u32 + Send>>>(worker: &W) -> Vec<u32> {
    let text = String::from("moved");
    push(worker, Box::new(move || u32::try_from(text.len()).unwrap()));
    push(worker, Box::new(|| 7));
    (0..2).map(|_| job(take_one(worker))()).collect()
}

///
#[test]
fn closures_run() {
    assert_eq!(ran(&Ring::<_, _>::once()), [5, 7]);
    assert_eq!(ran(&Ring::builder().capacity(2).build_once().unwrap()), [5, 7]);
    assert_eq!(ran(&Ring::<_, _>::once().boxed()), [5, 7]);
}

///
#[test]
fn a_ring_says_whether_it_retries() {
    assert_eq!(Ring::<u32>::new().capabilities().tier(Feature::Retries), Tier::Native);
    assert_eq!(Ring::<u32, _>::once().capabilities().tier(Feature::Retries), Tier::Absent);
    let none = Ring::builder().dead_letters(0).build::<u32>().unwrap();
    assert_eq!(none.capabilities().tier(Feature::DeadLetters), Tier::Absent);
}

#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::SeqCst);
        Self(self.0.clone())
    }
}

///
#[test]
fn a_job_is_cloned_only_when_it_is_to_be_kept() {
    let clones = Arc::new(AtomicUsize::new(0));
    let count = || clones.load(Ordering::SeqCst);
    let ring = Ring::new();
    push(&ring, Counted(clones.clone()));
    settle(&ring, take_one(&ring), BACK);
    settle(&ring, take_one(&ring), retry(std::time::Duration::ZERO));
    let Delivery { meta, payload, receipt } = take_one(&ring);
    assert_eq!(count(), 0, "queued, returned and retried without a clone");
    let (started, kept) = payload.take(true);
    assert_eq!((count(), started.is_ok()), (1, true));
    settle(&ring, Delivery { meta, payload: kept.unwrap(), receipt }, retry(std::time::Duration::ZERO));
    let (last, none) = take_one(&ring).payload.take(false);
    assert!(last.is_ok() && none.is_none());
    assert_eq!(count(), 1, "the last attempt moves it");

    push(&ring, last.unwrap());
    let cause = queue_core::Cause { reason: queue_core::Reason::Permanent, error: "".into() };
    settle(&ring, take_one(&ring), Verdict::Dead { cause: Box::new(cause) });
    assert_eq!(count(), 1);
    assert_eq!(now(ring.dead_letters(Page::first(1))).unwrap().len(), 1);
    assert_eq!(count(), 2, "a listing is a copy");
}
