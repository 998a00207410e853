//! Readings of a queue that runs: they add up at any moment.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context as Poller, Waker};
use std::time::Duration;

use crate::common::{
    Broker, Server, assert_attempts_add_up, assert_broker_adds_up, assert_ring_adds_up, fill, fill_early, settle_down,
};
use crate::tokio;
use queue::core::{Event, EventLog};
use queue::{Context, Outcome, Queue, Retry, Ring, Stats, Worker};
use tokio::sync::Semaphore;

const LONG: Duration = Duration::from_secs(30);

/// How many handlers are inside, and the most there ever were.
#[derive(Default)]
struct Gauge {
    inside: AtomicU64,
    most: AtomicU64,
}

/// One job in seven fails, one in five hundred panics, some wait.
async fn mixed(job: u64, cx: Context<Arc<Gauge>>) -> Result<(), &'static str> {
    let gauge = cx.state();
    let inside = gauge.inside.fetch_add(1, Ordering::SeqCst) + 1;
    gauge.most.fetch_max(inside, Ordering::SeqCst);
    if job.is_multiple_of(3) {
        tokio::task::yield_now().await;
    }
    gauge.inside.fetch_sub(1, Ordering::SeqCst);
    assert!(job % 500 != 1, "one of the panics");
    if job.is_multiple_of(7) { Err("one of the failures") } else { Ok(()) }
}

/// Takes readings while four producers and four slots are at work. They end once there are enough readings.
async fn read_live<W: Worker<Job = u64>>(queue: &Queue<W>, readings: u64, check: impl Fn(&Stats)) {
    let over = Arc::new(AtomicBool::new(false));
    let producers: Vec<_> = (0..4)
        .map(|producer| {
            let (queue, over) = (queue.clone(), over.clone());
            tokio::task::spawn(async move {
                let mut job = producer;
                while !over.load(Ordering::SeqCst) {
                    queue.enqueue(job).await.unwrap();
                    job += 4;
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    let mut last = queue.stats();
    for reading in 0..readings {
        let stats = queue.stats();
        check(&stats);
        assert_attempts_add_up_live(&stats);
        assert!(stats.running <= 4, "{stats:?}");
        assert!(counts(&last).iter().zip(counts(&stats)).all(|(last, now)| *last <= now), "{last:?} {stats:?}");
        last = stats;
        if reading.is_multiple_of(16) {
            tokio::task::yield_now().await;
        }
    }
    over.store(true, Ordering::SeqCst);
    for producer in producers {
        producer.await.unwrap();
    }
}

/// What only grows.
const fn counts(stats: &Stats) -> [u64; 8] {
    let Stats { accepted, done, dead, started, ok, failed, panicked, .. } = *stats;
    [accepted, done, dead, started, ok, failed, panicked, stats.late]
}

/// An attempt that has ended may have a job that is not settled yet: it still counts as running.
#[track_caller]
fn assert_attempts_add_up_live(stats: &Stats) {
    let ended = stats.ok + stats.failed + stats.panicked + stats.timed_out + stats.cut_short;
    assert!((ended..=ended + 4).contains(&stats.started), "{stats:?}");
}

/// E-91
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_readings_of_a_ring_add_up() {
    let ring = Ring::builder().capacity(1_000).build().unwrap();
    let gauge = Arc::new(Gauge::default());
    let builder = Queue::with_worker(ring).slots(4).retry(Retry::fixed(1, Duration::ZERO)).state(gauge.clone());
    let queue = builder.start(mixed).unwrap();
    read_live(&queue, 10_000, assert_ring_adds_up).await;
    let report = queue.shutdown(LONG).await.unwrap();
    let stats = report.stats();
    assert!(gauge.most.load(Ordering::SeqCst) <= 4);
    assert_eq!(stats.accepted, stats.done + stats.dead + stats.returned);
    assert_attempts_add_up(stats);
}

/// E-92
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_readings_of_a_broker_add_up() {
    let server = Server::default();
    let builder = Queue::with_worker(Broker::new(&server)).slots(4).retry(Retry::fixed(1, Duration::ZERO));
    let queue = builder.state(Arc::default()).start(mixed).unwrap();
    read_live(&queue, 10_000, assert_broker_adds_up).await;
    let report = queue.shutdown(LONG).await.unwrap();
    assert_broker_adds_up(report.stats());
    assert_attempts_add_up(report.stats());
    assert_eq!(report.stats().held + report.stats().running, 0);
}

/// E-92
#[tokio::test(start_paused = true)]
async fn a_process_that_only_consumes_has_accepted_nothing() {
    let server = Server::default();
    let producer = Queue::with_worker(Broker::new(&server)).producer().unwrap();
    fill(&producer, 100).await;
    let consumer = Queue::with_worker(Broker::new(&server)).slots(4).start(async |_: u64| ()).unwrap();
    settle_down(|| consumer.stats().done == 100).await;
    let (produced, consumed) = (producer.stats(), consumer.stats());
    assert_eq!((consumed.received, consumed.done, consumed.accepted), (100, 100, 0));
    assert_eq!((produced.received, produced.done, produced.accepted), (0, 0, 100));
    assert_broker_adds_up(&consumed);
}

/// E-91: while the handlers are gated the gauges are exact.
#[tokio::test(start_paused = true)]
async fn gauges_are_exact_while_nothing_moves() {
    let gate = Arc::new((Semaphore::new(0), AtomicU64::new(0)));
    let gated = async |_: u64, cx: Context<Arc<(Semaphore, AtomicU64)>>| {
        let (gate, inside) = &**cx.state();
        inside.fetch_add(1, Ordering::SeqCst);
        gate.acquire().await.unwrap().forget();
        inside.fetch_sub(1, Ordering::SeqCst);
    };
    let queue = Queue::with_worker(Ring::new()).slots(3).state(gate.clone()).start(gated).unwrap();
    fill(&queue, 20).await;
    queue.job(20).delay(LONG).enqueue().await.unwrap();
    settle_down(|| queue.stats().running == 3).await;
    let stats = queue.stats();
    assert_eq!((stats.queued, stats.held, stats.running, stats.waiting, stats.slots), (17, 0, 3, 1, 3));
    assert_eq!(stats.queued + stats.waiting, queue.worker().len() as u64);
    assert_eq!(stats.running, gate.1.load(Ordering::SeqCst));
    gate.0.add_permits(2);
    settle_down(|| queue.stats().done == 2 && queue.stats().running == 3).await;
    assert_eq!(gate.1.load(Ordering::SeqCst), 3);
    assert_eq!(queue.stats().queued, 15);
    assert_ring_adds_up(&queue.stats());
}

/// E-93
#[tokio::test(start_paused = true)]
async fn each_end_is_counted_once() {
    let handler = async |job: u64| match job {
        0 => panic!("a panic"),
        1 => Err("an error"),
        _ => Ok(()),
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(Retry::none()).start(handler).unwrap();
    fill(&queue, 4).await;
    settle_down(|| queue.stats().started == 4 && queue.stats().running == 0).await;
    let stats = queue.stats();
    assert_eq!((stats.accepted, stats.done, stats.dead, stats.failed, stats.panicked), (4, 2, 2, 1, 1));
    assert_attempts_add_up(&stats);
}

/// E-95: all five ends of an attempt, and a resize that ends the slots that counted them.
#[tokio::test(start_paused = true)]
async fn a_resize_resets_no_counter() {
    let handler = async |job: u64| match job {
        0 => Outcome::done(),
        1 => Outcome::failed(queue::Error::new("an error")),
        2 => panic!("a panic"),
        3 => std::future::pending().await,
        _ => Outcome::snooze(LONG),
    };
    let builder = Queue::with_worker(Ring::new()).slots(5).retry(Retry::none()).timeout(Duration::from_secs(1));
    let queue = builder.start(handler).unwrap();
    fill(&queue, 5).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let before = queue.stats();
    assert_eq!((before.ok, before.failed, before.panicked, before.timed_out, before.cut_short), (1, 1, 1, 1, 1));
    assert_attempts_add_up(&before);
    for slots in [0, 5] {
        queue.resize(slots).await.unwrap();
        settle_down(|| queue.stats().slots == slots as u64).await;
        let mut expected = before;
        expected.slots = slots as u64;
        assert_eq!(queue.stats(), expected);
    }
}

/// E-95
#[tokio::test(start_paused = true)]
async fn a_reconnect_resets_no_counter() {
    let (server, events) = (Server::default(), EventLog::new(8));
    let worker = Broker::new(&server).with_events(&events);
    let queue = Queue::with_worker(worker).slots(2).retry(Retry::none()).state(Arc::default()).start(mixed).unwrap();
    fill(&queue, 15).await;
    settle_down(|| queue.stats().done + queue.stats().dead == 15).await;
    let before = queue.stats();
    assert_eq!((before.ok, before.failed, before.panicked), (11, 3, 1));
    for reconnects in 1..=3 {
        events.note(Event::Disconnected("gone".into()));
        events.note(Event::Connected);
        settle_down(|| queue.health().reconnects == reconnects).await;
        assert_eq!(queue.stats(), before);
    }
    queue.enqueue(0).await.unwrap();
    settle_down(|| queue.stats().started == before.started + 1).await;
}

/// A change of control between two jobs of a batch leaves the slot its jobs, which were received once.
#[tokio::test(start_paused = true)]
async fn a_resize_inside_a_batch_receives_nothing_twice() {
    let server = Server::default();
    type Later = Arc<parking_lot::Mutex<Option<Queue<Broker<u64>>>>>;
    let resized = Later::default();
    let builder = Queue::with_worker(Broker::new(&server).with_share(8)).slots(1).state(resized.clone());
    fill_early(&builder.enqueuer(), 8).await;
    let handler = |_: u64, cx: Context<Later>| {
        if let Some(queue) = &*cx.state().lock() {
            // One poll makes the change.
            let pending = pin!(queue.resize(1)).poll(&mut Poller::from_waker(Waker::noop())).is_pending();
            assert!(pending);
        }
        async {}
    };
    let queue = builder.start(handler).unwrap();
    *resized.lock() = Some(queue.clone());
    settle_down(|| queue.stats().done == 8).await;
    assert_eq!((queue.stats().received, queue.stats().held), (8, 0));
    assert_broker_adds_up(&queue.stats());
    *resized.lock() = None;
}
