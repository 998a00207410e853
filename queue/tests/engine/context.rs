//! What a handler may ask: about its job, and when it shall stop.

use std::sync::Arc;

use crate::tokio;
use parking_lot::Mutex;
use queue::core::Loss;
use queue::{CancelReason, Context, Queue, Retry, Ring, Worker};
use tokio::time::{Instant, sleep};

use crate::common::{Broker, LONG, end, ms, settle_down, until};

/// E-66
#[tokio::test(start_paused = true)]
async fn a_context_tells_all_of_its_job() {
    fn is_clone_send_static<T: Clone + Send + 'static>(_: &T) {}
    let kept = Arc::new(Mutex::new(Vec::new()));
    let notes = kept.clone();
    let handler = move |_: u32, cx: Context<u8>| {
        is_clone_send_static(&cx);
        notes.lock().push((cx, Instant::now()));
        std::future::ready(Err::<(), _>("again"))
    };
    let queue = Queue::with_worker(Ring::new())
        .name("orders")
        .slots(1)
        .state(7)
        .retry(Retry::fixed(1, ms(20)))
        .timeout(ms(100))
        .start(handler)
        .unwrap();
    let enqueued = Instant::now();
    let id = queue.job(1).header("tenant", "a").deadline(ms(500)).delay(ms(30)).enqueue().await.unwrap();
    sleep(ms(200)).await;
    drop(end(&queue).await);
    let kept = kept.lock();
    assert_eq!(kept.len(), 2);
    for ((cx, start), attempt) in kept.iter().zip(1..) {
        assert_eq!((cx.id(), cx.attempt(), cx.attempts(), cx.queue(), *cx.state()), (id, attempt, 2, "orders", 7));
        assert_eq!((cx.header("tenant"), cx.is_redelivered(), cx.fence()), (Some(&b"a"[..]), false, None));
        assert_eq!((cx.enqueued_at(), cx.deadline()), (enqueued, Some(enqueued + ms(500))));
        assert_eq!(cx.times_out_at(), Some(*start + ms(100)));
    }
    assert_eq!(queue.name(), "orders");
}

/// E-66: what a broker knows of it, and a queue without a name.
#[tokio::test(start_paused = true)]
async fn a_context_tells_the_fence_of_a_broker() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let notes = kept.clone();
    let handler = move |_: String, cx: Context| {
        notes.lock().push((cx.fence(), cx.queue().to_owned(), cx.deadline(), cx.times_out_at()));
        std::future::ready(())
    };
    let queue = Queue::with_worker(Broker::new()).slots(1).start(handler).unwrap();
    queue.enqueue("job".to_owned()).await.unwrap();
    until(|| queue.stats().done == 1).await;
    assert_eq!(*kept.lock(), [(Some(7), "test".to_owned(), None, None)]);
    drop(end(&queue).await);
}

/// What a handler that waits for its signal was told, and whether it ran on after that.
type Signals = Arc<Mutex<Vec<(CancelReason, bool)>>>;

async fn waits_for_its_signal(signals: Signals, cx: Context) {
    let reason = cx.cancelled().await;
    assert_eq!(cx.cancel_reason(), Some(reason));
    signals.lock().push((reason, cx.shutdown_handle().is_begun()));
    // Polled once more, and no further.
    std::future::pending::<()>().await;
    signals.lock().clear();
}

/// E-67
#[tokio::test(start_paused = true)]
async fn a_handler_hears_why_it_shall_stop_and_is_polled_once_more() {
    let signals = Signals::default();
    let notes = signals.clone();
    let broker = Broker::new();
    let queue = Queue::with_worker(broker.clone())
        .slots(3)
        .retry(Retry::none())
        .start(move |_: String, cx: Context| waits_for_its_signal(notes.clone(), cx))
        .unwrap();
    let lost = queue.enqueue("lost".to_owned()).await.unwrap();
    queue.job("late".to_owned()).enqueue().await.unwrap();
    until(|| queue.stats().running == 2).await;
    assert!(signals.lock().is_empty());
    broker.lose(lost, Loss::Revoked);
    until(|| queue.stats().running == 1).await;
    assert_eq!(*signals.lock(), [(CancelReason::LostOwnership(Loss::Revoked), false)]);
    drop(queue.shutdown(ms(50)).await.unwrap());
    assert_eq!(signals.lock()[1..], [(CancelReason::Shutdown, true)]);
}

/// E-67
#[tokio::test(start_paused = true)]
async fn a_timeout_is_told_before_the_drop() {
    let signals = Signals::default();
    let notes = signals.clone();
    let queue = Queue::with_worker(Ring::new())
        .slots(1)
        .retry(Retry::none())
        .timeout(ms(100))
        .start(move |_: u32, cx: Context| waits_for_its_signal(notes.clone(), cx))
        .unwrap();
    queue.enqueue(1).await.unwrap();
    sleep(ms(110)).await;
    assert_eq!(*signals.lock(), [(CancelReason::Timeout, false)]);
    drop(end(&queue).await);
}

/// E-67
#[tokio::test(start_paused = true)]
async fn the_begin_of_a_shutdown_is_heard_before_its_deadline() {
    let begun = Arc::new(Mutex::new(None));
    let note = begun.clone();
    let handler = move |_: u32, cx: Context| {
        let note = note.clone();
        async move {
            cx.shutdown_handle().begun().await;
            *note.lock() = Some((Instant::now(), cx.cancel_reason()));
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).start(handler).unwrap();
    queue.enqueue(1).await.unwrap();
    sleep(ms(1_000)).await;
    assert!(begun.lock().is_none() && !queue.shutdown_handle().is_begun());
    let start = Instant::now();
    let report = queue.shutdown(LONG).await.unwrap();
    assert_eq!(*begun.lock(), Some((start, None)));
    assert_eq!(report.stats().done, 1);
    assert!(queue.shutdown_handle().is_begun());
    settle_down().await;
}

/// E-68: on the ring, behind `DynWorker`, and from a broker.
#[tokio::test(start_paused = true)]
async fn headers_reach_the_handler_unchanged() {
    async fn arrive<W: Worker<Job = String>>(worker: W) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = seen.clone();
        let handler = move |_: String, cx: Context| {
            notes.lock().push(cx.headers().cloned());
            std::future::ready(())
        };
        let queue = Queue::with_worker(worker).slots(1).start(handler).unwrap();
        let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let job = queue.job("job".to_owned()).header("traceparent", traceparent);
        job.header("größe", "🦀").header("raw", &b"\x00\xff"[..]).header("", "").enqueue().await.unwrap_err();
        let job = queue.job("job".to_owned()).header("traceparent", traceparent);
        job.header("größe", "🦀").header("raw", &b"\x00\xff"[..]).enqueue().await.unwrap();
        until(|| queue.stats().done == 1).await;
        let seen = seen.lock()[0].clone().unwrap();
        let all: Vec<_> = seen.iter().map(|(name, value)| (name, &value[..])).collect();
        let raw = ("raw", &b"\x00\xff"[..]);
        assert_eq!(all, [("traceparent", traceparent.as_bytes()), ("größe", "🦀".as_bytes()), raw]);
        drop(end(&queue).await);
    }
    arrive(Ring::new()).await;
    arrive(Ring::new().boxed()).await;
    arrive(Broker::new()).await;
}
