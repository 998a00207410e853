//! How many run: resize up, down and to nothing, and never more than there are slots.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use crate::tokio;
use parking_lot::Mutex;
use queue::{Queue, Retry, Ring};
use tokio::time::{Instant, sleep};

use crate::common::{Gate, LONG, end, ms, settle_down, until};

/// A queue of gated jobs: what runs now, what ran.
struct Gated {
    queue: Queue<Ring<u32>>,
    gate: Gate,
    running: Arc<AtomicUsize>,
    ran: Arc<Mutex<Vec<u32>>>,
}

/// What runs: less when it is dropped, however its handler ends.
struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn gated(slots: usize, jobs: u32) -> Gated {
    let (gate, running, ran) = (Gate::new(), Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (pass, runs, done) = (gate.clone(), running.clone(), ran.clone());
    let handler = move |job: u32| {
        let (pass, done) = (pass.clone(), done.clone());
        runs.fetch_add(1, Ordering::SeqCst);
        let running = Running(runs.clone());
        async move {
            pass.pass().await;
            drop(running);
            done.lock().push(job);
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(slots).start(handler).unwrap();
    queue.enqueue_many(0..jobs).await.unwrap();
    Gated { queue, gate, running, ran }
}

impl Gated {
    fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    /// As many run, and no more start.
    async fn runs(&self, count: usize) {
        until(|| self.running() == count).await;
        settle_down().await;
        assert_eq!(self.running(), count);
        assert_eq!(self.queue.stats().running, count as u64);
    }
}

/// E-23
#[tokio::test(start_paused = true)]
async fn resize_up_down_to_nothing_and_back() {
    let gated = gated(2, 16).await;
    gated.runs(2).await;
    gated.queue.resize(4).await.unwrap();
    gated.runs(4).await;
    gated.queue.resize(1).await.unwrap();
    gated.runs(4).await;
    for left in [3, 2, 1, 1, 1] {
        gated.gate.open(1);
        until(|| gated.running() == left).await;
        gated.runs(left).await;
    }
    gated.queue.resize(0).await.unwrap();
    gated.runs(1).await;
    gated.gate.open(1);
    gated.runs(0).await;
    sleep(LONG).await;
    gated.runs(0).await;
    assert_eq!(gated.ran.lock().len(), 6);
    gated.queue.resize(2).await.unwrap();
    gated.runs(2).await;
    gated.gate.open(10);
    assert_eq!(end(&gated.queue).await.stats().done, 16);
    let mut ran = gated.ran.lock().clone();
    ran.sort_unstable();
    assert_eq!(ran, (0..16).collect::<Vec<_>>());
}

/// E-24
#[tokio::test(start_paused = true)]
async fn a_hundred_gated_jobs_peak_at_the_slots() {
    let gated = gated(4, 100).await;
    let mut peak = 0;
    while gated.ran.lock().len() < 100 {
        sleep(Duration::from_micros(100)).await;
        peak = peak.max(gated.running());
        gated.gate.open(1);
    }
    assert_eq!(peak, 4);
    assert_eq!(end(&gated.queue).await.stats().done, 100);
}

/// E-24
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn quick_jobs_never_run_on_more_than_the_slots() {
    let (running, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let most = peak.clone();
    let handler = move |job: u32| {
        let now = running.fetch_add(1, Ordering::SeqCst) + 1;
        most.fetch_max(now, Ordering::SeqCst);
        let running = Running(running.clone());
        async move {
            if job.is_multiple_of(16) {
                tokio::task::yield_now().await;
            }
            drop(running);
        }
    };
    let ring = Ring::builder().capacity(10_000).build().unwrap();
    let queue = Queue::with_worker(ring).slots(10).start(handler).unwrap();
    for batch in 0..100 {
        queue.enqueue_many(batch * 1_000..(batch + 1) * 1_000).await.unwrap();
    }
    assert_eq!(end(&queue).await.stats().done, 100_000);
    let peak = peak.load(Ordering::SeqCst);
    assert!((1..=10).contains(&peak), "{peak}");
}

/// E-25
#[tokio::test(start_paused = true)]
async fn resize_up_starts_more_before_any_has_ended() {
    let gated = gated(5, 10).await;
    gated.runs(5).await;
    let now = Instant::now();
    gated.queue.resize(10).await.unwrap();
    gated.runs(10).await;
    assert_eq!((Instant::now(), gated.ran.lock().len()), (now, 0));
    gated.gate.open(10);
    assert_eq!(end(&gated.queue).await.stats().done, 10);
}

/// E-26
#[tokio::test(start_paused = true)]
async fn resize_down_lets_all_that_run_end() {
    let gated = gated(5, 10).await;
    gated.runs(5).await;
    gated.queue.resize(3).await.unwrap();
    gated.runs(5).await;
    sleep(LONG).await;
    gated.runs(5).await;
    let now = Instant::now();
    for (ended, running) in [(1, 4), (2, 3), (3, 3), (4, 3), (7, 3), (8, 2)] {
        gated.gate.open(ended - gated.ran.lock().len());
        until(|| gated.ran.lock().len() == ended).await;
        gated.runs(running).await;
    }
    assert_eq!((Instant::now(), gated.queue.stats().cut_short), (now, 0));
    gated.gate.open(10);
    assert_eq!(end(&gated.queue).await.stats().done, 10);
}

/// A resize that comes in the middle of a batch: each delivery is counted once.
#[tokio::test(start_paused = true)]
async fn a_resize_within_a_batch_counts_no_delivery_twice() {
    let itself: Arc<Mutex<Option<Queue<Ring<u32>>>>> = Arc::default();
    let queue_of = itself.clone();
    let handler = move |job: u32| {
        let queue = queue_of.lock().clone();
        if let Some(queue) = queue {
            // The change is made in the first poll; nobody waits for it.
            let mut resize = Box::pin(async move { queue.resize(1 + job as usize % 3).await });
            let polled = resize.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
            assert!(polled.is_pending() || polled == Poll::Ready(Ok(())));
        }
        async {}
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).start(handler).unwrap();
    *itself.lock() = Some(queue.clone());
    queue.enqueue_many(0..40).await.unwrap();
    until(|| queue.stats().done == 40).await;
    *itself.lock() = None;
    let stats = queue.stats();
    assert_eq!((stats.received, stats.started, stats.held), (40, 40, 0));
    drop(end(&queue).await);
}

/// A job that waits in its slot for its retry holds no resize up.
#[tokio::test(start_paused = true)]
async fn an_inline_wait_follows_a_resize() {
    let handler = |_: u32| std::future::ready(Err::<(), _>("no"));
    let retry = Retry::fixed(1, LONG).inline();
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(retry).start(handler).unwrap();
    queue.enqueue(1).await.unwrap();
    until(|| queue.stats().failed == 1).await;
    let now = Instant::now();
    tokio::time::timeout(ms(10), queue.resize(0)).await.unwrap().unwrap();
    assert_eq!(Instant::now(), now);
    assert_eq!(queue.stats().running, 1);
    sleep(LONG).await;
    until(|| queue.stats().dead == 1).await;
    until(|| queue.stats().slots == 0).await;
}
