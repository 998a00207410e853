//! Dropping an enqueue cancels it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use parking_lot::Mutex;
use queue::{EnqueueError, JobId, Queue, Ring};

type Enqueue<'a> = Pin<Box<dyn Future<Output = Result<JobId, EnqueueError<u32>>> + Send + 'a>>;

/// A paused queue with room for two, and what it ran.
fn paused() -> (Queue<Ring<u32>>, Arc<Mutex<Vec<u32>>>) {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let theirs = ran.clone();
    let ring = Ring::builder().capacity(2).build().unwrap();
    let queue = Queue::with_worker(ring).slots(0);
    let queue = queue
        .start(move |job: u32| {
            theirs.lock().push(job);
            std::future::ready(())
        })
        .unwrap();
    (queue, ran)
}

async fn poll_once(enqueue: &mut Enqueue<'_>) -> Poll<Result<JobId, EnqueueError<u32>>> {
    poll_fn(|cx| Poll::Ready(enqueue.as_mut().poll(cx))).await
}

/// Cancels in each state, and says what ran.
async fn cancel<'a>(queue: &Queue<Ring<u32>>, enqueue: impl Fn(u32) -> Enqueue<'a>) {
    drop(enqueue(1));
    assert_eq!((queue.stats().accepted, queue.stats().queued), (0, 0), "never polled");

    let mut accepted = enqueue(2);
    assert!(matches!(poll_once(&mut accepted).await, Poll::Ready(Ok(_))));
    drop(accepted);
    assert_eq!((queue.stats().accepted, queue.stats().queued), (1, 1), "accepted");

    let mut last = enqueue(3);
    assert!(matches!(poll_once(&mut last).await, Poll::Ready(Ok(_))));
    let (mut dropped, mut woken, mut next) = (enqueue(4), enqueue(5), enqueue(6));
    for waiting in [&mut dropped, &mut woken, &mut next] {
        assert!(poll_once(waiting).await.is_pending());
    }
    drop(dropped);
    assert_eq!((queue.stats().accepted, queue.stats().queued), (2, 2), "still waiting");

    queue.resize(1).await.unwrap();
    while queue.stats().done < 2 {
        tokio::task::yield_now().await;
    }
    queue.resize(0).await.unwrap();
    // There is room now, and this one was woken for it: it is dropped before it looks.
    drop(woken);
    assert_eq!((queue.stats().accepted, queue.stats().queued), (2, 0), "woken");
    assert!(matches!(next.await, Ok(_)), "the wake was passed on");
    queue.resize(1).await.unwrap();
    while queue.stats().done < 3 {
        tokio::task::yield_now().await;
    }
}

/// P-15
#[tokio::test(start_paused = true)]
async fn a_dropped_enqueue_has_queued_nothing_or_one_job() {
    let (queue, ran) = paused();
    cancel(&queue, |job| Box::pin(queue.enqueue(job))).await;
    assert_eq!(*ran.lock(), [2, 3, 6]);

    let (queue, ran) = paused();
    let enqueuer = queue.enqueuer();
    cancel(&queue, |job| Box::pin(enqueuer.enqueue(job))).await;
    assert_eq!(*ran.lock(), [2, 3, 6], "through an enqueuer");
}
