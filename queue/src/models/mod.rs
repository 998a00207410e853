//! The engine in every interleaving: `cargo xtask models` runs these, with loom's locks and atomics.
//!
//! Under each model is a whole [`Queue`] over a whole [`Ring`]: `SlotTask::run` and all that a slot does, `Queue::resize`,
//! `Shared::close` and the shutdown's task; `Control`, `Slots` and the ring's lock are loom's. A slot's task is a thread
//! of the model, for loom knows no tasks, and so is whoever enqueues. Left out: the watchdog, and tokio's own parts
//! (`Notify`, `watch`), which tokio models by itself and which are one step each here. The clock stands still: nothing
//! ends because its time came, so what is not woken is a deadlock, and loom finds it.
//!
//! Each comment names the guard without which its model was seen to fail.

mod resize;
mod shutdown;

use std::future::Future;
use std::ops::Deref;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use loom::thread::{JoinHandle, Thread};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::engine::{Setup, Shared};
use crate::enqueue::Intake;
use crate::handler::Plain;
use crate::policy::Policy;
use crate::queue::{Owner, Spawn};
use crate::shutdown::Report;
use crate::slot::SlotTask;
use crate::{OnShutdown, Queue, Ring, Worker};

/// Far enough: the clock stands still.
const LONG: Duration = Duration::from_secs(60);

/// What of a model is explored.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// All of it.
    Whole,
    /// What is between `begin` and `end`. Start and end of the queue run in one order.
    Race,
}

impl Part {
    fn begin(self) {
        if self == Self::Race {
            loom::explore();
        }
    }

    fn end(self) {
        if self == Self::Race {
            loom::stop_exploring();
        }
    }
}

/// Every interleaving with at most `preemptions` switches away from a thread that could go on.
fn check(preemptions: usize, part: Part, model: impl Fn(Part) + Sync + Send + 'static) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    // Loom's threads all run on this one.
    let _inside = runtime.enter();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.expect_explicit_explore = part == Part::Race;
    builder.check(move || model(part));
}

/// A queue as `Builder::start` makes it, but that its slots are threads of the model.
fn start<H, F>(slots: usize, on_shutdown: OnShutdown, handler: H) -> Model
where
    H: Fn(u64) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let ring = Ring::new();
    ring.clock().tick(Instant::now());
    let policy = Policy::new(None, None, None, ring.capabilities());
    let setup = Setup { on_shutdown: Some(on_shutdown), ..Setup::default() };
    let shared = Shared::new(Arc::new(Intake::new(ring)), policy, setup, Handle::current());
    let handler = Arc::new((handler, ()));
    let threads = Arc::<Mutex<Vec<_>>>::default();
    let (of_slots, all) = (shared.clone(), Arc::clone(&threads));
    let spawn: Spawn = Box::new(move |place, slot| {
        let task = SlotTask { shared: of_slots.clone(), slot, place, handler: handler.clone() };
        let thread = loom::thread::spawn(move || block_on(task.run::<Plain<F>>()));
        all.lock().push(thread);
    });
    let owner = Owner { shared, spawn: Some(spawn), resizing: tokio::sync::Mutex::new(()) };
    owner.resize(slots);
    Model { queue: Queue::new(owner), threads }
}

/// A queue, and the threads of its slots.
struct Model {
    queue: Queue<Ring<u64>>,
    threads: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Model {
    /// Shuts down on this thread within `time`; the report says that every job is accounted for.
    fn end(self, time: Duration) -> Report<u64> {
        let deadline = Instant::now() + time;
        block_on(self.queue.0.shared.close(deadline).expect("nobody else ends it"));
        let report = report(&self.queue, deadline);
        self.join();
        report
    }

    /// All slots have ended: nobody else has the queue.
    fn join(self) {
        let threads = std::mem::take(&mut *self.threads.lock());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

impl Deref for Model {
    type Target = Queue<Ring<u64>>;

    fn deref(&self) -> &Self::Target {
        &self.queue
    }
}

/// What the shutdown has to say; it waits for it.
fn report(queue: &Queue<Ring<u64>>, deadline: Instant) -> Report<u64> {
    let report = block_on(queue.0.shared.shutdown.wait(&queue.0.shared, deadline)).unwrap();
    assert!(report.is_complete());
    let stats = report.stats();
    assert_eq!(stats.accepted, stats.done + stats.returned, "{stats:?}");
    assert_eq!((stats.returned, stats.slots), (report.unrun() as u64, 0));
    report
}

/// How many run now, and whether there were ever more than there may be.
#[derive(Debug)]
struct Running {
    now: loom::sync::atomic::AtomicUsize,
    /// Not seen by loom: it is set, and then only read.
    limit: AtomicUsize,
    over: AtomicUsize,
    ended: Semaphore,
}

impl Running {
    fn new(limit: usize) -> Arc<Self> {
        let now = loom::sync::atomic::AtomicUsize::new(0);
        Arc::new(Self { now, limit: AtomicUsize::new(limit), over: AtomicUsize::new(0), ended: Semaphore::new(0) })
    }

    /// From here on no job starts where so many run.
    fn set_limit(&self, limit: usize) {
        self.limit.store(limit, Ordering::SeqCst);
    }

    /// A job starts.
    fn start(&self) {
        // What a panic would say is caught by the engine.
        if self.now.fetch_add(1, Ordering::SeqCst) >= self.limit.load(Ordering::SeqCst) {
            self.over.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn stop(&self) {
        self.now.fetch_sub(1, Ordering::SeqCst);
        self.ended.add_permits(1);
    }

    /// Waits until so many have run.
    fn wait(&self, jobs: u32) {
        block_on(self.ended.acquire_many(jobs)).unwrap().forget();
    }

    fn assert_held(&self) {
        assert_eq!(self.over.load(Ordering::SeqCst), 0, "a job started beside too many");
    }
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

/// Polls until it is ready, and sleeps in between.
fn block_on<F: Future>(future: F) -> F::Output {
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

/// Polls once and drops it.
fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}
