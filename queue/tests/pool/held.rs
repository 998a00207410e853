//! What a slot has in its hands while it is told something, or waits.

use std::pin::pin;
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Waker};
use std::time::Duration;

use crate::tokio;
use queue::{Queue, Retry, Ring};

/// Lets all that can go on go on, without moving the paused clock.
async fn rounds() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// A resize that leaves a slot the jobs in its hands counts none of them twice.
#[tokio::test(start_paused = true)]
async fn a_job_is_received_once_whatever_the_slots_are_told() {
    type Resizer = Arc<OnceLock<Weak<Queue<Ring<usize>>>>>;
    let resizer = Resizer::default();
    let theirs = resizer.clone();
    let queue = Queue::with_worker(Ring::new()).slots(1);
    let queue = queue
        .start(move |_: usize| {
            let queue = theirs.get().and_then(Weak::upgrade).unwrap();
            // The first poll makes the change.
            let mut resize = pin!(queue.resize(1));
            assert!(resize.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            std::future::ready(())
        })
        .unwrap();
    let queue = Arc::new(queue);
    resizer.set(Arc::downgrade(&queue)).unwrap();
    queue.enqueue_many(0..64).await.unwrap();
    rounds().await;
    assert_eq!((queue.stats().done, queue.stats().received), (64, 64));
}

/// What a slot took ahead does not wait with a job that waits there for its next attempt.
#[tokio::test(start_paused = true)]
async fn an_inline_wait_holds_up_only_its_own_job() {
    let queue = Queue::with_worker(Ring::new()).slots(2).retry(Retry::fixed(1, Duration::from_secs(10)).inline());
    let queue = queue.start(async |job: usize| if job == 0 { Err("later") } else { Ok(()) }).unwrap();
    queue.enqueue_many(0..64).await.unwrap();
    rounds().await;
    let stats = queue.stats();
    assert_eq!((stats.done, stats.running, stats.held), (63, 1, 0));
}
