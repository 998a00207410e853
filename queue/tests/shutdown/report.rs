//! What a shutdown does with each job, and what its report says.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{
    Broker, Server, assert_attempts_add_up, assert_broker_adds_up, assert_ring_adds_up, fill, fill_early, settle_down,
};
use crate::tokio;
use queue::core::Verdict;
use queue::{CancelReason, Context, OnShutdown, Queue, Report, Retry, Ring};
use tokio::sync::Semaphore;

const LONG: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(100);

fn unrun(report: &Report<u64>) -> Vec<u64> {
    report.take_unrun().into_iter().map(|unrun| unrun.job.unwrap()).collect()
}

fn gate() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(0))
}

/// A handler that waits for its gate.
async fn gated(_: u64, cx: Context<Arc<Semaphore>>) {
    cx.state().acquire().await.unwrap().forget();
}

/// E-74: a job of each fate, on the ring.
#[tokio::test(start_paused = true)]
async fn the_report_of_a_ring_adds_up() {
    let handler = async |job: u64| match job {
        0 => Ok(()),
        1 => Err("no"),
        2 => panic!("a job that panics"),
        _ => std::future::pending().await,
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(Retry::none()).start(handler).unwrap();
    fill(&queue, 6).await;
    settle_down(|| queue.stats().running == 1 && queue.stats().dead == 2).await;
    queue.job(6).delay(LONG).enqueue().await.unwrap();
    let report = queue.shutdown(SHORT).await.unwrap();
    let stats = *report.stats();
    assert!(report.is_complete());
    assert_eq!((stats.accepted, stats.done, stats.dead, stats.returned, stats.cancelled), (7, 1, 2, 4, 0));
    assert_eq!((stats.queued, stats.held, stats.running, stats.waiting, report.abandoned()), (0, 0, 0, 0, 0));
    assert_eq!((stats.ok, stats.failed, stats.panicked, stats.cut_short), (1, 1, 1, 1));
    assert_ring_adds_up(&stats);
    assert_attempts_add_up(&stats);
    assert_eq!(unrun(&report), [3, 4, 5, 6]);
}

/// E-74: the same on a broker, with a retry that the shutdown cuts.
#[tokio::test(start_paused = true)]
async fn the_report_of_a_broker_adds_up() {
    let server = Server::default();
    let handler = async |job: u64| match job {
        0 => Ok(()),
        1 => Err(queue::Error::permanent("no")),
        2 => Err(queue::Error::new("not yet")),
        _ => std::future::pending().await,
    };
    let retry = Retry::fixed(1, LONG);
    let queue = Queue::with_worker(Broker::new(&server)).slots(2).retry(retry).start(handler).unwrap();
    fill(&queue, 5).await;
    settle_down(|| queue.stats().started == 4).await;
    let report = queue.shutdown(SHORT).await.unwrap();
    let stats = *report.stats();
    assert_eq!((stats.done, stats.dead, stats.retried, stats.returned, stats.lost), (1, 1, 1, 1, 0));
    assert_eq!((stats.received, report.abandoned(), stats.held), (4, 0, 0));
    assert_broker_adds_up(&stats);
    assert_eq!(report.unrun(), 0);
    // What was not received, what was cancelled, and the retry.
    assert_eq!(server.len(), 3);
}

/// E-75
#[tokio::test(start_paused = true)]
async fn handlers_that_end_in_time_are_done() {
    let handler = async |_: u64, cx: Context| {
        tokio::select! {
            _ = cx.cancelled() => std::future::pending().await,
            () = tokio::time::sleep(Duration::from_secs(9)) => {}
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(2).start(handler).unwrap();
    fill(&queue, 2).await;
    settle_down(|| queue.stats().running == 2).await;
    let report = queue.shutdown(LONG).await.unwrap();
    assert_eq!((report.stats().done, report.stats().cut_short, report.unrun()), (2, 0, 0));
}

/// E-76
#[tokio::test(start_paused = true)]
async fn a_ring_is_drained_until_the_deadline_and_the_rest_returned_in_order() {
    let handler = async |_: u64| tokio::time::sleep(Duration::from_secs(1)).await;
    let queue = Queue::with_worker(Ring::new()).slots(2).start(handler).unwrap();
    fill(&queue, 10).await;
    let report = queue.shutdown(Duration::from_millis(2_500)).await.unwrap();
    // Two pairs in 2 s, the third is cancelled, and stands before what never started.
    assert_eq!(report.stats().done, 4);
    let unrun = report.take_unrun();
    assert!(unrun.iter().all(|unrun| unrun.attempts == 0));
    assert_eq!(unrun.into_iter().map(|unrun| unrun.job.unwrap()).collect::<Vec<_>>(), [4, 5, 6, 7, 8, 9]);
}

/// E-76
#[tokio::test(start_paused = true)]
async fn a_broker_gets_its_jobs_back_untouched_and_at_once() {
    let server = Server::default();
    let gate = gate();
    let worker = Broker::new(&server).with_share(4);
    let verdicts = worker.verdicts.clone();
    let builder = Queue::with_worker(worker).slots(1).state(gate.clone());
    fill_early(&builder.enqueuer(), 8).await;
    let queue = builder.start(gated).unwrap();
    settle_down(|| queue.stats().running == 1 && queue.stats().held == 3).await;
    // What is held goes back while the job before it still runs.
    let returned = async {
        settle_down(|| server.len() == 7).await;
        assert_eq!((queue.stats().running, queue.stats().returned), (1, 3));
        gate.add_permits(8);
    };
    let (report, ()) = tokio::join!(queue.shutdown(LONG), returned);
    let report = report.unwrap();
    assert_eq!((report.stats().done, report.stats().returned, report.unrun(), server.len()), (1, 3, 0, 7));
    assert_broker_adds_up(report.stats());
    let returned = |verdict: &&Verdict| matches!(verdict, Verdict::Return { after } if after.is_zero());
    assert_eq!(verdicts.lock().iter().filter(returned).count() as u64, report.stats().returned);
    // Another client gets them: the first attempt of each, in the old order.
    let seen = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let note =
        async |job: u64, cx: Context<Arc<parking_lot::Mutex<Vec<_>>>>| cx.state().lock().push((job, cx.attempt()));
    let other = Queue::with_worker(Broker::new(&server)).slots(1).state(seen.clone()).start(note).unwrap();
    settle_down(|| other.stats().done == 7).await;
    assert_eq!(*seen.lock(), (1..8).map(|job| (job, 1)).collect::<Vec<_>>());
}

/// E-77
#[tokio::test(start_paused = true)]
async fn a_ring_told_to_return_starts_nothing_more() {
    let gate = gate();
    let builder = Queue::with_worker(Ring::new()).slots(1).on_shutdown(OnShutdown::Return).state(gate.clone());
    let queue = builder.start(gated).unwrap();
    queue.enqueue(100).await.unwrap();
    settle_down(|| queue.stats().running == 1).await;
    fill(&queue, 16).await;
    let (report, ()) = tokio::join!(queue.shutdown(LONG), async { gate.add_permits(100) });
    let report = report.unwrap();
    assert_eq!((report.stats().started, report.stats().done), (1, 1));
    assert_eq!(unrun(&report), (0..16).collect::<Vec<_>>());
}

/// E-77: also what its slots hold already, which a broker's worker cannot take back at once.
#[tokio::test(start_paused = true)]
async fn a_broker_told_to_drain_runs_what_is_here() {
    let server = Server::default();
    let gate = gate();
    let builder = Queue::with_worker(Broker::new(&server).with_share(16)).slots(1).on_shutdown(OnShutdown::Drain);
    let builder = builder.state(gate.clone());
    fill_early(&builder.enqueuer(), 16).await;
    let queue = builder.start(gated).unwrap();
    settle_down(|| queue.stats().running == 1 && queue.stats().held == 15).await;
    let (report, ()) = tokio::join!(queue.shutdown(LONG), async { gate.add_permits(100) });
    let report = report.unwrap();
    assert_eq!((report.stats().done, report.stats().returned, server.len()), (16, 0, 0));
    assert_broker_adds_up(report.stats());
}

/// E-78
#[tokio::test(start_paused = true)]
async fn at_the_deadline_a_handler_hears_of_it_is_dropped_and_its_job_returned() {
    struct OnDrop(Arc<AtomicU64>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.fetch_add(10, Ordering::SeqCst);
        }
    }
    let server = Server::default();
    let told = Arc::new(AtomicU64::new(0));
    let handler = async |_: u64, cx: Context<Arc<AtomicU64>>| {
        let _guard = OnDrop(cx.state().clone());
        if cx.cancelled().await == CancelReason::Shutdown {
            cx.state().fetch_add(1, Ordering::SeqCst);
        }
        std::future::pending::<()>().await;
    };
    let builder = Queue::with_worker(Broker::new(&server)).slots(1).retry(Retry::fixed(3, SHORT));
    let queue = builder.state(told.clone()).start(handler).unwrap();
    queue.enqueue(7).await.unwrap();
    settle_down(|| queue.stats().running == 1).await;
    let report = queue.shutdown(SHORT).await.unwrap();
    assert_eq!(told.load(Ordering::SeqCst), 11);
    let stats = report.stats();
    assert_eq!((stats.returned, stats.failed, stats.timed_out, stats.retried, stats.cut_short), (1, 0, 0, 0, 1));
    let attempt = Arc::new(AtomicU64::new(0));
    let note = async |_: u64, cx: Context<Arc<AtomicU64>>| cx.state().store(cx.attempt().into(), Ordering::SeqCst);
    let other = Queue::with_worker(Broker::new(&server)).state(attempt.clone()).start(note).unwrap();
    settle_down(|| other.stats().done == 1).await;
    assert_eq!(attempt.load(Ordering::SeqCst), 1);
}

/// E-78: a job that was moved into its handler.
#[tokio::test(start_paused = true)]
async fn at_the_deadline_a_moved_job_is_cancelled() {
    let queue =
        Queue::with_worker(Ring::once()).slots(1).start(async |_: u64| std::future::pending::<()>().await).unwrap();
    fill(&queue, 2).await;
    settle_down(|| queue.stats().running == 1).await;
    let report = queue.shutdown(SHORT).await.unwrap();
    let stats = *report.stats();
    assert_eq!((stats.cancelled, stats.returned, stats.failed, stats.dead), (1, 1, 0, 0));
    assert_ring_adds_up(&stats);
    assert_eq!(unrun(&report), [1]);
}
