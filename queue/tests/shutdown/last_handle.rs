//! The last handle of a queue goes without a shutdown: that is a shutdown with no time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{Broker, Server, assert_tasks_gone, fill, fill_early, settle_down};
use crate::tokio;
use queue::{CancelReason, Context, Queue, Ring};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// A handler that ends when it is told to, and counts that; a job that counts its copies.
async fn told<J>(_job: J, cx: Context<Arc<AtomicU64>>) {
    if cx.cancelled().await == CancelReason::Shutdown {
        cx.state().fetch_add(1, Ordering::SeqCst);
    }
    std::future::pending::<()>().await;
}

/// E-9: on the ring, where nobody is left to get the jobs.
#[tokio::test(start_paused = true)]
async fn the_drop_of_the_last_handle_ends_a_ring() {
    let metrics = Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    let (heard, job) = (Arc::new(AtomicU64::new(0)), Arc::new(()));
    let queue = Queue::with_worker(Ring::new()).slots(2).state(heard.clone()).start(told).unwrap();
    let enqueuer = queue.enqueuer();
    for _ in 0..5 {
        queue.enqueue(job.clone()).await.unwrap();
    }
    queue.job(job.clone()).delay(Duration::from_secs(60)).enqueue().await.unwrap();
    settle_down(|| queue.stats().running == 2).await;
    let (start, other) = (Instant::now(), queue.clone());
    drop(queue);
    assert_tasks_stay(&metrics).await;
    assert_eq!((heard.load(Ordering::SeqCst), other.stats().running), (0, 2), "a handle is left");
    drop(other);
    settle_down(|| heard.load(Ordering::SeqCst) == 2).await;
    assert_eq!(start.elapsed(), Duration::ZERO);
    enqueuer.try_enqueue(job.clone()).await.unwrap_err();
    assert_tasks_gone(&metrics, before).await;
    drop(enqueuer);
    assert_eq!(Arc::strong_count(&job), 1);
}

/// E-9: on a broker, which has all its jobs back at once.
#[tokio::test(start_paused = true)]
async fn the_drop_of_the_last_handle_gives_a_broker_its_jobs_back() {
    let metrics = Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    let (server, heard) = (Server::default(), Arc::new(AtomicU64::new(0)));
    let worker = Broker::new(&server).with_share(3);
    let journal = worker.journal.clone();
    let builder = Queue::with_worker(worker).slots(1).state(heard.clone());
    fill_early(&builder.enqueuer(), 5).await;
    let queue = builder.start(told).unwrap();
    settle_down(|| queue.stats().running == 1 && queue.stats().held == 2).await;
    let start = Instant::now();
    drop(queue);
    settle_down(|| journal.lock().last() == Some(&"end")).await;
    assert_eq!((server.len(), heard.load(Ordering::SeqCst), start.elapsed()), (5, 1, Duration::ZERO));
    assert_tasks_gone(&metrics, before).await;
}

/// E-9: in a queue that does nothing.
#[tokio::test(start_paused = true)]
async fn the_drop_of_the_last_handle_ends_an_idle_queue() {
    let metrics = Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    let producer = Queue::with_worker(Ring::new()).producer().unwrap();
    let queue = Queue::with_worker(Ring::new()).slots(8).start(async |_: u64| ()).unwrap();
    fill(&producer, 3).await;
    fill(&queue, 3).await;
    settle_down(|| queue.stats().done == 3).await;
    drop((queue, producer));
    assert_tasks_gone(&metrics, before).await;
}

/// No task ends by itself.
async fn assert_tasks_stay(metrics: &tokio::runtime::RuntimeMetrics) {
    let before = metrics.num_alive_tasks();
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    assert_eq!(metrics.num_alive_tasks(), before);
}

/// Intake closes with the drop, not when a task gets its turn: nobody is left to run a job.
#[tokio::test(start_paused = true)]
async fn intake_closes_with_the_last_handle() {
    let queue = Queue::with_worker(Ring::new()).slots(1).start(async |_: u64| ()).unwrap();
    let enqueuer = queue.enqueuer();
    drop(queue);
    assert_eq!(enqueuer.try_enqueue(1).await.unwrap_err().into_job(), 1);
}

/// The last handle goes inside a handler: the engine ends, the handler too.
#[tokio::test(start_paused = true)]
async fn the_last_handle_may_go_inside_a_handler() {
    let slot = Arc::new(parking_lot::Mutex::new(None::<Queue<Ring<u64>>>));
    let told = Arc::new(AtomicBool::new(false));
    let state = (slot.clone(), told.clone(), Arc::new(Semaphore::new(0)));
    type State = (Arc<parking_lot::Mutex<Option<Queue<Ring<u64>>>>>, Arc<AtomicBool>, Arc<Semaphore>);
    let handler = async |_: u64, cx: Context<State>| {
        let (slot, told, gate) = cx.state();
        gate.acquire().await.unwrap().forget();
        drop(slot.lock().take());
        told.store(cx.cancelled().await == CancelReason::Shutdown, Ordering::SeqCst);
    };
    let tasks = Handle::current().metrics();
    let before = tasks.num_alive_tasks();
    let queue = Queue::with_worker(Ring::new()).slots(2).state(state.clone()).start(handler).unwrap();
    queue.enqueue(1).await.unwrap();
    settle_down(|| queue.stats().running == 1).await;
    *slot.lock() = Some(queue);
    state.2.add_permits(1);
    assert_tasks_gone(&tasks, before).await;
    assert!(told.load(Ordering::SeqCst));
}
