//! How a queue lives in a program: until it is idle, until a signal, beside others.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::tokio;
use queue::{Cancels, Group, HealthState, Queue, Retry, Ring, Worker};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, sleep, timeout};

use crate::common::{Broker, assert_ring_adds_up, fill, settle_down};

const LONG: Duration = Duration::from_secs(10);
const SECOND: Duration = Duration::from_secs(1);

/// Whether the queue is idle within a second.
async fn is_idle<W: Worker>(queue: &Queue<W>) -> bool {
    timeout(SECOND, queue.idle()).await.is_ok()
}

/// E-89
#[tokio::test(start_paused = true)]
async fn idle_is_nothing_queued_held_running_or_waiting() {
    let gate = Arc::new(Semaphore::new(0));
    let passes = gate.clone();
    let handler = move |job: u64| {
        let gate = passes.clone();
        async move {
            gate.acquire().await.unwrap().forget();
            if job == 1 { Err("once more") } else { Ok(()) }
        }
    };
    let retry = Retry::fixed(1, Duration::from_secs(60));
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(retry).start(handler).unwrap();
    queue.idle().await;
    fill(&queue, 3).await;
    // One runs, two are queued.
    assert!(!is_idle(&queue).await);
    gate.add_permits(2);
    assert!(!is_idle(&queue).await);
    gate.add_permits(1);
    // Nothing runs; one waits for its retry.
    assert!(!is_idle(&queue).await);
    let start = Instant::now();
    gate.add_permits(1);
    queue.idle().await;
    let waited = start.elapsed();
    assert!(waited >= Duration::from_secs(57) && waited <= Duration::from_secs(60), "{waited:?}");
    let stats = queue.stats();
    assert_eq!((stats.done, stats.dead, stats.started), (2, 1, 4));

    // The last job goes another way: idle is found by looking again.
    let id = queue.job(7).delay(Duration::from_secs(3_600)).enqueue().await.unwrap();
    assert!(!is_idle(&queue).await);
    assert!(queue.worker().cancel(id).await.unwrap().is_some());
    assert!(is_idle(&queue).await);

    // Paused with a backlog is not idle.
    queue.resize(0).await.unwrap();
    queue.enqueue(8).await.unwrap();
    assert!(!is_idle(&queue).await);
    drop(queue.shutdown(Duration::ZERO).await.unwrap());
}

/// E-89: whoever waits is woken when the last job ends, and not by a clock.
#[tokio::test(start_paused = true)]
async fn the_last_job_wakes_whoever_waits_for_idle() {
    let handler = async |job: u64| sleep(Duration::from_millis(job)).await;
    let queue = Queue::with_worker(Ring::new()).slots(4).start(handler).unwrap();
    fill(&queue, 38).await;
    let (start, mut waiting) = (Instant::now(), Vec::new());
    for _ in 0..3 {
        let queue = queue.clone();
        waiting.push(tokio::task::spawn(async move { queue.idle().await }));
    }
    let mut slots = [0_u64; 4];
    for job in 0..38 {
        *slots.iter_mut().min().unwrap() += job;
    }
    for waiting in waiting {
        waiting.await.unwrap();
    }
    let expected = Duration::from_millis(*slots.iter().max().unwrap());
    let late = start.elapsed() - expected;
    assert!(late <= Duration::from_millis(2), "{late:?} after {expected:?}");
    drop(queue.shutdown(Duration::ZERO).await.unwrap());
}

/// E-89: on a broker that cannot be inspected idle is what this process has.
#[tokio::test(start_paused = true)]
async fn idle_on_a_broker() {
    let server = Arc::new(Ring::new());
    let queue =
        Queue::with_worker(Broker::new(&server)).slots(1).start(async |_: u64| sleep(SECOND * 2).await).unwrap();
    fill(&queue, 1).await;
    settle_down(|| queue.stats().running == 1).await;
    assert!(!is_idle(&queue).await);
    assert!(is_idle(&queue).await || is_idle(&queue).await);
    assert_eq!(queue.stats().done, 1);
    drop(queue.shutdown(LONG).await.unwrap());
}

/// E-100
#[tokio::test(start_paused = true)]
async fn a_queue_runs_until_its_signal() {
    let queue = Queue::with_worker(Ring::new()).slots(1).start(async |_: u64| sleep(SECOND).await).unwrap();
    fill(&queue, 3).await;
    let (signal, signalled) = oneshot::channel::<()>();
    let runs = tokio::task::spawn({
        let queue = queue.clone();
        async move { queue.run_until(signalled, LONG).await.unwrap() }
    });
    sleep(SECOND * 2).await;
    assert!(!runs.is_finished() && queue.health().state == HealthState::Consuming);
    signal.send(()).unwrap();
    let report = runs.await.unwrap();
    assert!(report.is_complete());
    assert_eq!(report.stats().done, 3);
}

/// E-100, E-34: the worker says that it is closed, and nobody had asked it to.
#[tokio::test(start_paused = true)]
async fn a_queue_ends_with_its_worker() {
    let queue = Queue::with_worker(Ring::new()).slots(2).start(async |_: u64| sleep(SECOND).await).unwrap();
    let mut events = queue.events();
    fill(&queue, 3).await;
    settle_down(|| queue.stats().running == 2).await;
    queue.worker().close();
    let report = queue.run_until(pending::<()>(), LONG).await.unwrap();
    assert!(report.is_complete());
    assert_ring_adds_up(report.stats());
    assert_eq!(report.stats().done, 3);
    assert!(matches!(events.next().await, Some(queue::Event::Closed)));
}

/// E-34: health says so, and nobody asks a closed worker again.
#[tokio::test(start_paused = true)]
async fn a_closed_worker_is_told_by_health() {
    let queue = Queue::with_worker(Ring::new()).slots(2).start(async |_: u64| ()).unwrap();
    settle_down(|| queue.stats().slots == 2).await;
    queue.worker().close();
    settle_down(|| queue.stats().slots == 0).await;
    sleep(LONG).await;
    assert_eq!((queue.health().state, queue.stats().slots), (HealthState::Stopped, 0));
    drop(queue.shutdown(LONG).await.unwrap());
}

/// E-100: somebody else's shutdown ends it, too.
#[tokio::test(start_paused = true)]
async fn run_until_joins_a_shutdown() {
    let queue = Queue::with_worker(Ring::new()).slots(1).start(async |_: u64| ()).unwrap();
    let runs = tokio::task::spawn({
        let queue = queue.clone();
        async move { queue.run_until(pending::<()>(), LONG).await.unwrap() }
    });
    sleep(SECOND).await;
    assert!(!runs.is_finished());
    queue.shutdown_handle().begin(LONG);
    assert!(runs.await.unwrap().is_complete());
}

/// E-101
#[tokio::test(start_paused = true)]
async fn a_group_has_one_signal_one_deadline_and_one_report() {
    let server = Arc::new(Ring::new());
    let stuck = Broker::new(&server);
    stuck.faults.shutdown_hangs.store(true, Ordering::SeqCst);
    stuck.faults.settle_hangs.store(true, Ordering::SeqCst);
    let quick = Queue::with_worker(Ring::new()).name("quick").slots(1).start(async |_: u64| ()).unwrap();
    let stuck = Queue::with_worker(stuck).name("stuck").slots(1).start(async |_: u64| ()).unwrap();
    let slow = async |_: String| sleep(SECOND * 4).await;
    let slow = Queue::with_worker(Ring::new()).name("slow").slots(1).start(slow).unwrap();
    let group = Group::new().with(&quick).with(&stuck).with(&slow);
    quick.enqueue(1).await.unwrap();
    stuck.enqueue(2).await.unwrap();
    for _ in 0..2 {
        slow.enqueue("two".to_owned()).await.unwrap();
    }
    let (signal, signalled) = oneshot::channel::<()>();
    let runs = tokio::task::spawn(async move { group.run_until(signalled, SECOND * 5).await });
    sleep(SECOND).await;
    assert!(!runs.is_finished());
    let start = Instant::now();
    signal.send(()).unwrap();
    let report = runs.await.unwrap();
    assert!(start.elapsed() <= SECOND * 6);
    let parts: Vec<_> = report.parts.iter().map(|part| (&*part.queue, part.stats.done, part.error.is_some())).collect();
    assert_eq!(parts, [("quick", 1, false), ("stuck", 0, true), ("slow", 1, false)]);
    assert_eq!(report.parts[1].stats.lost, 1);
    assert_eq!(report.parts[2].unrun, 1);
    assert!(!report.is_clean() && report.parts.iter().all(|part| part.complete));
    // What never ran is with the queue itself.
    let unrun = slow.shutdown(Duration::ZERO).await.unwrap().take_unrun();
    assert_eq!(unrun[0].job.as_deref(), Ok("two"));
}

/// E-101: without a signal it ends when every queue has.
#[tokio::test(start_paused = true)]
async fn a_group_ends_with_its_last_queue() {
    let one = Queue::with_worker(Ring::new()).slots(1).start(async |_: u64| ()).unwrap();
    let two = Queue::with_worker(Ring::new()).slots(1).start(async |_: String| ()).unwrap();
    let group = Group::new().with(&one).with(&two);
    let runs = tokio::task::spawn(async move { group.run_until(pending::<()>(), LONG).await });
    one.worker().close();
    sleep(SECOND).await;
    assert!(!runs.is_finished());
    two.shutdown_handle().begin(LONG);
    assert!(runs.await.unwrap().is_clean());
    assert!(Group::new().shutdown(LONG).await.is_clean());
}
