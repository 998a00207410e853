//! A shutdown answers in time, whatever stands in its way, and leaves no task behind.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::common::{Broker, Faults, Server, assert_broker_adds_up, assert_tasks_gone, fill, fill_early, settle_down};
use crate::tokio;
use queue::{OnShutdown, Pauses, Queue, Report, Ring, ShutdownError, Worker};
use tokio::runtime::{Handle, RuntimeMetrics};
use tokio::time::Instant;

const TIME: Duration = Duration::from_millis(500);

/// The answer, which came in time.
async fn in_time<W: Worker>(queue: &Queue<W>) -> Result<Report<W::Job>, ShutdownError<W::Job>> {
    let start = Instant::now();
    let answer = queue.shutdown(TIME).await;
    assert!(start.elapsed() <= TIME + Duration::from_secs(1), "{:?}", start.elapsed());
    answer
}

fn tasks() -> (RuntimeMetrics, usize) {
    let metrics = Handle::current().metrics();
    let alive = metrics.num_alive_tasks();
    (metrics, alive)
}

fn broker(share: usize) -> (Server<u64>, Broker<u64>, Arc<Faults>) {
    let server = Server::default();
    let worker = Broker::new(&server).with_share(share);
    let faults = worker.faults.clone();
    (server, worker, faults)
}

/// E-28, E-81: nothing was ever started, or all is paused.
#[tokio::test(start_paused = true)]
async fn a_queue_without_slots_ends_at_once() {
    let (metrics, before) = tasks();
    let start = Instant::now();
    let producer = Queue::with_worker(Ring::new()).producer().unwrap();
    let idle = Queue::with_worker(Ring::new()).slots(0).start(async |_: u64| ()).unwrap();
    let paused = Queue::with_worker(Ring::new()).slots(2).start(async |_: u64| ()).unwrap();
    paused.worker().pause().await.unwrap();
    let resized = Queue::with_worker(Ring::new()).slots(2).start(async |_: u64| ()).unwrap();
    resized.resize(0).await.unwrap();
    for queue in [&producer, &idle, &paused, &resized] {
        fill(queue, 3).await;
        let report = in_time(queue).await.unwrap();
        assert_eq!((report.stats().returned, report.unrun(), report.is_complete()), (3, 3, true));
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_tasks_gone(&metrics, before).await;
}

/// E-81
#[tokio::test(start_paused = true)]
async fn a_request_that_hangs_holds_nothing_up() {
    for on_shutdown in [OnShutdown::Return, OnShutdown::Drain] {
        let (metrics, before) = tasks();
        let (server, worker, faults) = broker(1);
        faults.request_hangs.store(true, Ordering::SeqCst);
        let queue = Queue::with_worker(worker).slots(2).on_shutdown(on_shutdown).start(async |_: u64| ()).unwrap();
        fill(&queue, 3).await;
        let report = in_time(&queue).await.unwrap();
        assert_eq!((report.is_complete(), report.stats().received, server.len()), (true, 0, 3));
        assert_tasks_gone(&metrics, before).await;
    }
}

/// E-81: a verdict that never gets its answer is given up, so that slot and engine end.
#[tokio::test(start_paused = true)]
async fn a_settle_that_hangs_holds_nothing_up() {
    let (metrics, before) = tasks();
    let (_server, worker, faults) = broker(4);
    faults.settle_hangs.store(true, Ordering::SeqCst);
    let builder = Queue::with_worker(worker).slots(1);
    fill_early(&builder.enqueuer(), 4).await;
    let queue = builder.start(async |_: u64| ()).unwrap();
    settle_down(|| queue.stats().ok == 1).await;
    let report = in_time(&queue).await.unwrap();
    assert_eq!((report.stats().lost, report.abandoned(), report.is_complete()), (4, 0, true));
    assert_broker_adds_up(report.stats());
    assert_tasks_gone(&metrics, before).await;
}

/// E-81
#[tokio::test(start_paused = true)]
async fn a_worker_that_does_not_end_is_an_error_with_the_report() {
    let (metrics, before) = tasks();
    let (_server, worker, faults) = broker(1);
    faults.shutdown_hangs.store(true, Ordering::SeqCst);
    let queue = Queue::with_worker(worker).start(async |_: u64| ()).unwrap();
    fill(&queue, 3).await;
    settle_down(|| queue.stats().done == 3).await;
    let error = in_time(&queue).await.unwrap_err();
    assert_eq!((error.report.stats().done, error.report.is_complete()), (3, true));
    assert!(error.source.to_string().contains("did not end in time"), "{}", error.source);
    assert_tasks_gone(&metrics, before).await;
}

/// The worker's own words reach every caller.
#[tokio::test(start_paused = true)]
async fn a_worker_that_ends_badly_is_an_error_for_every_caller() {
    let (_server, worker, faults) = broker(1);
    faults.shutdown_fails.store(true, Ordering::SeqCst);
    let queue = Queue::with_worker(worker).start(async |_: u64| ()).unwrap();
    let (first, second) = tokio::join!(queue.shutdown(TIME), queue.shutdown(TIME));
    let third = queue.shutdown(TIME).await;
    for answer in [first, second, third] {
        assert_eq!(answer.unwrap_err().source.to_string(), "the connection was gone");
    }
}

/// E-81: even a bug in the worker is an answer, and not the end of the clock.
#[tokio::test(start_paused = true)]
async fn a_worker_that_panics_at_its_end_is_an_error() {
    let (metrics, before) = tasks();
    let (_server, worker, faults) = broker(1);
    faults.shutdown_panics.store(true, Ordering::SeqCst);
    let queue = Queue::with_worker(worker).start(async |_: u64| ()).unwrap();
    let start = Instant::now();
    let error = queue.shutdown(Duration::MAX).await.unwrap_err();
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert!(error.source.to_string().contains("ended before its time"), "{}", error.source);
    assert_tasks_gone(&metrics, before).await;
}
