//! User code that runs in a drop, a clone or a waker: never under the lock.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Wake, Waker};

use backend_memory::Ring;
use queue_core::{Cancels, Cause, DeadLetters, Entry, Page, Reason, Room, Verdict, Worker};

use crate::common::{enqueue, job, now, pop, push, refused, request, settle, shutdown, take, take_one, within};

/// A job that does something when it goes.
enum Job {
    Quiet,
    /// Its drop and its clone enqueue into the same ring.
    Enqueues(Weak<Ring<Self>>),
    /// Its drop panics.
    Panics(Arc<AtomicUsize>),
}

impl Drop for Job {
    fn drop(&mut self) {
        match self {
            Self::Quiet => {}
            Self::Enqueues(ring) => enqueue_into(ring),
            Self::Panics(drops) => {
                if drops.fetch_add(1, Ordering::SeqCst) == 0 {
                    panic!("a drop that panics");
                }
            }
        }
    }
}

impl Clone for Job {
    fn clone(&self) -> Self {
        if let Self::Enqueues(ring) = self {
            enqueue_into(ring);
        }
        Self::Quiet
    }
}

fn enqueue_into(ring: &Weak<Ring<Job>>) {
    if let Some(ring) = ring.upgrade() {
        drop(ring.try_one(Job::Quiet));
    }
}

fn dead() -> Verdict {
    Verdict::Dead { cause: Box::new(Cause { reason: Reason::Permanent, error: "".into() }) }
}

fn ring(dead_letters: usize) -> Arc<Ring<Job>> {
    Arc::new(Ring::builder().dead_letters(dead_letters).build().unwrap())
}

/// Puts a job through an end, with a job whose drop enqueues: each end leaves so many new jobs. Then with one whose drop panics.
fn survives(dead_letters: usize, enqueued: usize, end: fn(&Arc<Ring<Job>>, Job)) {
    let left = within(move || {
        let ring = ring(dead_letters);
        end(&ring, Job::Enqueues(Arc::downgrade(&ring)));
        ring.len()
    });
    assert_eq!(left, enqueued);
    within(move || {
        let (ring, drops) = (ring(dead_letters), Arc::new(AtomicUsize::new(0)));
        assert!(catch_unwind(AssertUnwindSafe(|| end(&ring, Job::Panics(drops.clone())))).is_err());
        assert!(drops.load(Ordering::SeqCst) > 0);
        while take(&*ring, 1).pop_front().is_some() {}
        push(&*ring, Job::Quiet);
        assert_eq!(pop(&*ring, 1).len(), 1, "the ring goes on");
    });
}

fn bury(ring: &Arc<Ring<Job>>, job: Job) -> queue_core::JobId {
    let id = push(&**ring, job);
    settle(&**ring, take_one(&**ring), dead());
    id
}

///
#[test]
fn a_job_that_ends() {
    survives(1, 1, |ring, job| {
        push(&**ring, job);
        settle(&**ring, take_one(&**ring), Verdict::Ack);
    });
}

///
#[test]
fn a_dead_letter_that_falls_out() {
    survives(1, 1, |ring, job| {
        bury(ring, job);
        bury(ring, Job::Quiet);
    });
    survives(0, 1, |ring, job| {
        bury(ring, job);
    });
}

///
#[test]
fn a_dead_letter_that_is_discarded() {
    survives(1, 1, |ring, job| {
        let id = bury(ring, job);
        assert!(now(ring.discard(id)).unwrap());
    });
}

///
#[test]
fn a_dead_letter_that_is_copied() {
    within(|| {
        let ring = ring(1);
        bury(&ring, Job::Enqueues(Arc::downgrade(&ring)));
        assert_eq!(now(ring.dead_letters(Page::first(1))).unwrap().len(), 1);
        assert_eq!(ring.len(), 1);
    });
}

///
#[test]
fn a_job_that_is_cancelled() {
    survives(1, 1, |ring, job| {
        let id = push(&**ring, job);
        drop(now(ring.cancel(id)).unwrap());
    });
}

///
#[test]
fn a_job_that_is_refused() {
    within(|| {
        let ring: Arc<Ring<Job>> = Arc::new(Ring::builder().capacity(1).build().unwrap());
        push(&*ring, Job::Quiet);
        drop(refused(&*ring, Job::Enqueues(Arc::downgrade(&ring))));
        let drops = Arc::new(AtomicUsize::new(0));
        let mut batch = [Entry::new(Job::Panics(drops)), Entry::new(Job::Quiet)];
        now(ring.queue(&mut batch, Room::Refuse)).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| drop(batch))).is_err());
        assert_eq!((pop(&*ring, 9).len(), ring.len()), (1, 0));
    });
}

///
#[test]
fn a_ring_that_is_dropped_or_shut_down_with_jobs() {
    within(|| {
        for shut_down in [false, true] {
            let (ring, drops) = (ring(9), Arc::new(AtomicUsize::new(0)));
            bury(&ring, Job::Panics(drops.clone()));
            push(&*ring, Job::Enqueues(Arc::downgrade(&ring)));
            for _ in 0..3 {
                push(&*ring, Job::Panics(drops.clone()));
            }
            let unrun = if shut_down { shutdown(&*ring) } else { VecDeque::new() };
            assert!(catch_unwind(AssertUnwindSafe(|| drop((unrun, ring)))).is_err());
            assert_eq!(drops.load(Ordering::SeqCst), 4, "the others are dropped all the same");
        }
    });
}

/// A waker that looks at the ring when it is woken and when it goes.
struct Curious(Arc<Ring<u32>>);

impl Wake for Curious {
    fn wake(self: Arc<Self>) {
        self.0.tally();
    }
}

impl Drop for Curious {
    fn drop(&mut self) {
        self.0.tally();
    }
}

/// Polls with a waker that is gone afterwards, but for the copy that is kept.
fn poll_curiously<F: Future + Unpin>(ring: &Arc<Ring<u32>>, future: &mut F) -> bool {
    let waker = Waker::from(Arc::new(Curious(ring.clone())));
    std::pin::Pin::new(future).poll(&mut Context::from_waker(&waker)).is_ready()
}

///
#[test]
fn wakers_run_and_go_without_the_lock() {
    within(|| {
        let ring: Arc<Ring<u32>> = Arc::new(Ring::builder().capacity(1).build().unwrap());
        let ours = ring.clone();
        let mut waiting = Box::pin(request(&*ours, 1));
        assert!(!poll_curiously(&ring, &mut waiting));
        assert!(!poll_curiously(&ring, &mut waiting), "another waker takes the place of the first");
        push(&*ring, 1);
        assert!(poll_curiously(&ring, &mut waiting));
        drop(waiting);
        let mut again = Box::pin(request(&*ours, 1));
        assert!(!poll_curiously(&ring, &mut again), "the seat has another's waker");
        drop(again);

        push(&*ring, 2);
        let mut sender = Box::pin(enqueue(&*ours, 3));
        assert!(!poll_curiously(&ring, &mut sender));
        assert!(!poll_curiously(&ring, &mut sender));
        drop(sender);
        let mut sender = Box::pin(enqueue(&*ours, 4));
        assert!(!poll_curiously(&ring, &mut sender));
        assert_eq!(job(take_one(&*ring)), 2);
        assert!(poll_curiously(&ring, &mut sender));
        drop(sender);
        let mut sender = Box::pin(enqueue(&*ours, 5));
        assert!(!poll_curiously(&ring, &mut sender));
        ring.close();
        assert!(poll_curiously(&ring, &mut sender));
    });
}
