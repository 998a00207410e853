//! Who may ask for a shutdown, how often, until when, and from where.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crate::common::{assert_ring_adds_up, fill, settle_down};
use crate::tokio;
use queue::{Context, Queue, Ring, blocking};
use tokio::time::{Instant, timeout};

const LONG: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(10);

async fn a_second(_: u64) {
    tokio::time::sleep(Duration::from_secs(1)).await;
}

/// E-79
#[tokio::test(start_paused = true)]
async fn eight_callers_get_the_same_report_of_one_shutdown() {
    let queue = Queue::with_worker(Ring::new()).slots(1).start(a_second).unwrap();
    fill(&queue, 5).await;
    let callers: Vec<_> = (0..8)
        .map(|_| {
            let queue = queue.clone();
            tokio::task::spawn(async move { queue.shutdown(Duration::from_millis(2_500)).await.unwrap() })
        })
        .collect();
    let mut reports = Vec::new();
    for caller in callers {
        reports.push(caller.await.unwrap());
    }
    let stats = *reports[0].stats();
    assert_eq!((stats.done, stats.returned, stats.slots), (2, 3, 0));
    assert!(reports.iter().all(|report| *report.stats() == stats && report.is_complete() && report.unrun() == 3));
    // The jobs are there once, for whoever asks first.
    assert_eq!(reports[3].take_unrun().len(), 3);
    assert_eq!(reports[4].take_unrun().len(), 0);
}

/// E-79
#[tokio::test(start_paused = true)]
async fn a_later_call_has_the_report_at_once() {
    let queue = Queue::with_worker(Ring::new()).slots(1).start(a_second).unwrap();
    fill(&queue, 2).await;
    let first = queue.shutdown(LONG).await.unwrap();
    let clock = Instant::now();
    let later = queue.shutdown(Duration::ZERO).await.unwrap();
    assert_eq!((clock.elapsed(), later.stats(), later.is_complete()), (Duration::ZERO, first.stats(), true));
}

/// E-80
#[tokio::test(start_paused = true)]
async fn a_dropped_call_stops_nothing_and_a_later_one_joins() {
    let queue = Queue::with_worker(Ring::new()).slots(1).start(a_second).unwrap();
    fill(&queue, 2).await;
    let start = Instant::now();
    timeout(SHORT, queue.shutdown(LONG)).await.unwrap_err();
    queue.enqueue(9).await.unwrap_err();
    let report = queue.shutdown(Duration::ZERO).await.unwrap();
    assert!(!report.is_complete(), "its own deadline was not the latest");
    assert_eq!(start.elapsed(), SHORT);
    let report = queue.shutdown(LONG).await.unwrap();
    assert_eq!((report.stats().done, start.elapsed()), (2, Duration::from_secs(2)));
}

/// E-80
#[tokio::test(start_paused = true)]
async fn the_latest_deadline_of_all_callers_holds() {
    let queue = Queue::with_worker(Ring::new()).slots(1).start(a_second).unwrap();
    queue.enqueue(1).await.unwrap();
    settle_down(|| queue.stats().running == 1).await;
    let start = Instant::now();
    let hasty = async { (queue.shutdown(SHORT).await.unwrap(), start.elapsed()) };
    let patient = async { (queue.shutdown(Duration::from_secs(5)).await.unwrap(), start.elapsed()) };
    let ((hasty, hasty_time), (patient, patient_time)) = tokio::join!(hasty, patient);
    assert_eq!((hasty.stats().running, hasty.abandoned(), hasty.is_complete(), hasty_time), (1, 1, false, SHORT));
    assert_eq!((patient.stats().done, patient.abandoned(), patient.is_complete()), (1, 0, true));
    assert_eq!(patient_time, Duration::from_secs(1));
}

/// E-80
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocking_code_that_will_not_end_is_abandoned_and_a_later_call_waits_for_it() {
    let (open, gate) = mpsc::channel::<()>();
    let gate = parking_lot::Mutex::new(gate);
    let queue = Queue::with_worker(Ring::new()).slots(1).start(blocking(move |_: u64| gate.lock().recv().unwrap()));
    let queue = queue.unwrap();
    fill(&queue, 2).await;
    settle_down(|| queue.stats().running == 1).await;
    let report = queue.shutdown(SHORT).await.unwrap();
    assert_eq!((report.abandoned(), report.unrun(), report.is_complete()), (1, 1, false));
    let (report, ()) = tokio::join!(queue.shutdown(LONG), async { open.send(()).unwrap() });
    let report = report.unwrap();
    assert_eq!((report.abandoned(), report.stats().done, report.is_complete()), (0, 1, true));
    assert_ring_adds_up(report.stats());
}

/// E-80: a deadline beyond the clock is one that does not come.
#[tokio::test(start_paused = true)]
async fn a_shutdown_without_end_waits_for_its_jobs() {
    let handler = async |_: u64| tokio::time::sleep(Duration::from_secs(400 * 24 * 3_600)).await;
    let queue = Queue::with_worker(Ring::new()).slots(1).start(handler).unwrap();
    queue.enqueue(1).await.unwrap();
    let report = queue.shutdown(Duration::MAX).await.unwrap();
    assert_eq!((report.stats().done, report.stats().cut_short), (1, 0));
}

/// E-81: no time at all.
#[tokio::test(start_paused = true)]
async fn a_shutdown_without_time_cancels_what_runs() {
    let queue = Queue::with_worker(Ring::new()).slots(1).start(a_second).unwrap();
    fill(&queue, 3).await;
    settle_down(|| queue.stats().running == 1).await;
    let start = Instant::now();
    let report = queue.shutdown(Duration::ZERO).await.unwrap();
    assert_eq!((report.stats().returned, report.is_complete(), start.elapsed()), (3, true, Duration::ZERO));
    assert_ring_adds_up(report.stats());
}

/// Intake is closed when the first poll returns, not when a task gets its turn.
#[tokio::test(start_paused = true)]
async fn intake_closes_with_the_call() {
    let queue = Queue::with_worker(Ring::new()).slots(1).start(a_second).unwrap();
    let ends = queue.shutdown(LONG);
    let late = async { queue.try_enqueue(1).await.unwrap_err().into_job() };
    let (report, job) = tokio::join!(biased; ends, late);
    assert_eq!((report.unwrap().stats().accepted, job), (0, 1));
}

/// A handler that ends its own queue: nobody waits for ever, and its call answers at its deadline.
#[tokio::test(start_paused = true)]
async fn a_handler_may_shut_its_queue_down() {
    let slot = Arc::new(parking_lot::Mutex::new(None::<Queue<Ring<u64>>>));
    let answered = Arc::new(AtomicU64::new(0));
    let seen = answered.clone();
    let handler = move |_: u64, cx: Context<Arc<parking_lot::Mutex<Option<Queue<_>>>>>| {
        let (queue, seen) = (cx.state().lock().take(), seen.clone());
        async move {
            let start = Instant::now();
            let Some(queue) = queue else { return std::future::pending().await };
            let report = queue.shutdown(SHORT).await.unwrap();
            assert_eq!((report.stats().running, report.is_complete(), start.elapsed()), (1, false, SHORT));
            seen.fetch_add(1, Ordering::SeqCst);
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).state(slot.clone()).start(handler).unwrap();
    *slot.lock() = Some(queue.clone());
    fill(&queue, 3).await;
    settle_down(|| queue.stats().running == 1).await;
    let start = Instant::now();
    let report = queue.shutdown(SHORT).await.unwrap();
    assert_eq!((answered.load(Ordering::SeqCst), report.is_complete(), start.elapsed()), (1, true, SHORT));
    assert_eq!((report.stats().done, report.stats().returned), (1, 2));
}
