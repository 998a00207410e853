//! Dropping an enqueue cancels it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use crate::common::until;
use crate::tokio;
use parking_lot::Mutex;
use queue::{Cancels, EnqueueError, JobId, Queue, Ring};

type Enqueue<'a> = Pin<Box<dyn Future<Output = Result<JobId, EnqueueError<u32>>> + Send + 'a>>;

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A paused queue with room for three, and what it ran.
fn paused() -> (Queue<Ring<u32>>, Arc<Mutex<Vec<u32>>>) {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let theirs = ran.clone();
    let ring = Ring::builder().capacity(3).build().unwrap();
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
    let Poll::Ready(Ok(last)) = poll_once(&mut last).await else { panic!("there is room for three") };
    assert!(matches!(poll_once(&mut enqueue(4)).await, Poll::Ready(Ok(_))));
    let (mut dropped, mut woken, mut next) = (enqueue(5), enqueue(6), enqueue(7));
    for waiting in [&mut dropped, &mut woken] {
        assert!(poll_once(waiting).await.is_pending());
    }
    let wakes = Arc::new(Wakes::default());
    assert!(next.as_mut().poll(&mut Context::from_waker(&Waker::from(wakes.clone()))).is_pending());
    drop(dropped);
    assert_eq!((queue.stats().accepted, queue.stats().queued), (3, 3), "still waiting");

    // Room for one, and a wake for the first: it is dropped before it looks.
    assert_eq!(queue.worker().cancel(last).await.unwrap().map(|_| ()), Some(()));
    assert_eq!(wakes.0.load(Ordering::SeqCst), 0);
    drop(woken);
    assert_eq!((queue.stats().accepted, queue.stats().queued), (3, 2), "woken");
    assert_eq!(wakes.0.load(Ordering::SeqCst), 1, "the wake was passed on");
    assert!(matches!(poll_once(&mut next).await, Poll::Ready(Ok(_))));
    queue.resize(1).await.unwrap();
    until(|| queue.stats().done >= 3).await;
}

/// P-15
#[tokio::test(start_paused = true)]
async fn a_dropped_enqueue_has_queued_nothing_or_one_job() {
    let (queue, ran) = paused();
    cancel(&queue, |job| Box::pin(queue.enqueue(job))).await;
    assert_eq!(*ran.lock(), [2, 4, 7]);

    let (queue, ran) = paused();
    let enqueuer = queue.enqueuer();
    cancel(&queue, |job| Box::pin(enqueuer.enqueue(job))).await;
    assert_eq!(*ran.lock(), [2, 4, 7], "through an enqueuer");
}
