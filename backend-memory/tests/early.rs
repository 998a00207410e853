//! An enqueuer that is polled though nobody woke it.

#![allow(clippy::unwrap_used)]

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

use backend_memory::Ring;
use queue_core::{Entry, Room, Worker};

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Takes `max` of a full ring of eight.
fn take(ring: &Ring<u32>, max: usize) {
    let mut into = VecDeque::new();
    let mut request = pin!(ring.request(max, &mut into));
    assert!(request.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
}

fn fill(ring: &Ring<u32>) {
    while ring.try_one(Entry::new(0)).is_ok() {}
    assert_eq!(ring.len(), 8);
}

/// E-12
#[test]
fn an_enqueue_that_finds_room_unwoken_takes_no_wake_from_the_next() {
    let ring = Ring::builder().capacity(8).build().unwrap();
    fill(&ring);
    let mut job = [Entry::new(1)];
    let mut early = Box::pin(ring.queue(&mut job, Room::Wait));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(early.as_mut().poll(&mut cx).is_pending());
    // More than half is left: nobody is woken.
    take(&ring, 2);
    assert!(early.as_mut().poll(&mut cx).is_ready());
    drop(early);

    fill(&ring);
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(wakes.clone());
    let mut job = [Entry::new(2)];
    let mut next = pin!(ring.queue(&mut job, Room::Wait));
    assert!(next.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    // Room for one, and a wake for one.
    take(&ring, 1);
    assert_eq!(wakes.0.load(Ordering::SeqCst), 1);
}
