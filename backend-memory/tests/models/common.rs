//! What runs a model, and the threads' ends of the ring.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use backend_memory::Ring;
use loom::thread::Thread;
use queue_core::{Answer, Delivery, DeliveryOf, Entry, Payload, Refusal, RequestError, Room, Worker};
use tokio::time::Instant;

pub(crate) type Shared = Arc<Ring<u64>>;
pub(crate) type Deliveries = VecDeque<DeliveryOf<Ring<u64>>>;

/// Every interleaving with at most `preemptions` switches away from a thread that could go on.
pub(crate) fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 10_000;
    builder.check(model);
}

/// A ring with so much room and the jobs 0, 1, .. in it. Its stamps are all the same.
pub(crate) fn ring(capacity: usize, jobs: u64) -> Shared {
    let ring = Ring::builder().capacity(capacity).build().unwrap();
    ring.clock().tick(Instant::now());
    for job in 0..jobs {
        ring.try_one(job).unwrap();
    }
    Arc::new(ring)
}

/// A thread of the model.
pub(crate) fn spawn<T: 'static>(ring: &Shared, run: impl FnOnce(Shared) -> T + 'static) -> loom::thread::JoinHandle<T> {
    let ring = ring.clone();
    loom::thread::spawn(move || run(ring))
}

/// Wakes a thread that sleeps. In std's `Arc`: loom's own is a point where threads switch, and tokio clones wakers under
/// its locks. Not loom's `block_on`, which also wakes for no reason: that multiplies the interleavings.
struct Alarm {
    rung: loom::sync::Mutex<bool>,
    /// Not seen by loom: no thread switches between the unlock and its use. Loom would also wake a thread out of the queue
    /// of a lock.
    sleeps: AtomicBool,
    thread: Thread,
}

impl Alarm {
    fn new() -> Arc<Self> {
        let rung = loom::sync::Mutex::new(false);
        Arc::new(Self { rung, sleeps: AtomicBool::new(false), thread: loom::thread::current() })
    }

    fn wait(&self) {
        while !std::mem::take(&mut *self.rung.lock().unwrap()) {
            self.sleeps.store(true, Ordering::Relaxed);
            loom::thread::park();
        }
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        *self.rung.lock().unwrap() = true;
        if self.sleeps.swap(false, Ordering::Relaxed) {
            self.thread.unpark();
        }
    }
}

/// Polls until it is ready, and sleeps in between: a wake that is lost is a deadlock, which loom finds.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let alarm = Alarm::new();
    let waker = Waker::from(alarm.clone());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        alarm.wait();
    }
}

/// Polls once and drops it, as a `select` would whose other side is ready.
pub(crate) fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    let future = pin!(future);
    // Nobody waits for it: whoever wakes it wakes nobody.
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Waits for at least one job, at most `max`.
pub(crate) fn take(ring: &Ring<u64>, max: usize) -> Result<Vec<u64>, RequestError> {
    let mut into = VecDeque::new();
    block_on(ring.request(max, &mut into))?;
    assert!((1..=max).contains(&into.len()), "a request answered with {} of {max}", into.len());
    Ok(jobs(into))
}

pub(crate) fn jobs(deliveries: Deliveries) -> Vec<u64> {
    let job = |delivery: Delivery<<Ring<u64> as Worker>::Payload, ()>| delivery.payload.take(false).0.unwrap();
    deliveries.into_iter().map(job).collect()
}

/// Queues one job, and waits for room. False where the ring was closed; the job is back then.
pub(crate) fn queue(ring: &Ring<u64>, job: u64) -> bool {
    let mut entries = [Entry::new(job)];
    block_on(ring.queue(&mut entries, Room::Wait)).unwrap();
    is_accepted(entries, job)
}

pub(crate) fn is_accepted(entries: [Entry<u64>; 1], job: u64) -> bool {
    let [mut entry] = entries;
    match entry.reopen() {
        Answer::Accepted(_) => true,
        Answer::Refused(Refusal::Closed) => {
            assert_eq!(entry.into_job(), Some(job));
            false
        }
        other => panic!("an enqueue that waits was answered {other:?}"),
    }
}
