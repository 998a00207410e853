//! Shutdown against enqueue, start and resize: nothing is lost, nobody is left waiting.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::common::{assert_ring_adds_up, fill, settle_down};
use crate::tokio;
use parking_lot::Mutex;
use queue::{Context, Pauses, Queue, Report, Retry, Ring};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;

const LONG: Duration = Duration::from_secs(30);

/// The answer, which comes.
async fn comes<T>(future: impl Future<Output = T>) -> T {
    timeout(LONG, future).await.unwrap()
}

fn unrun(report: &Report<u64>) -> Vec<u64> {
    report.take_unrun().into_iter().map(|unrun| unrun.job.unwrap()).collect()
}

/// The tasks of a queue are gone, or go.
async fn tasks_go(before: usize) {
    let metrics = Handle::current().metrics();
    let gone = async {
        while metrics.num_alive_tasks() > before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    comes(gone).await;
}

/// E-82
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_enqueue_falls_before_or_after_a_shutdown() {
    for round in 0..400_u64 {
        let ran = Arc::new(Mutex::new(Vec::new()));
        let handler = async |job: u64, cx: Context<Arc<Mutex<Vec<u64>>>>| {
            cx.state().lock().push(job);
            if job.is_multiple_of(10) { Err("dead") } else { Ok(()) }
        };
        let builder = Queue::with_worker(Ring::new()).slots(2).retry(Retry::none()).state(ran.clone());
        let queue = builder.start(handler).unwrap();
        let producers: Vec<_> = (0..8)
            .map(|producer| {
                let enqueuer = queue.enqueuer();
                tokio::task::spawn(async move {
                    let mut accepted = Vec::new();
                    for job in producer * 25..(producer + 1) * 25 {
                        match enqueuer.enqueue(job).await {
                            Ok(_) => accepted.push(job),
                            Err(error) => assert_eq!(error.into_job(), job),
                        }
                        tokio::task::yield_now().await;
                    }
                    accepted
                })
            })
            .collect();
        for _ in 0..round % 20 {
            tokio::task::yield_now().await;
        }
        let report = comes(queue.shutdown(LONG)).await.unwrap();
        let mut accepted = Vec::new();
        for producer in producers {
            accepted.extend(producer.await.unwrap());
        }
        let stats = *report.stats();
        assert_eq!(stats.accepted, accepted.len() as u64);
        assert_eq!(stats.accepted, stats.done + stats.dead + stats.returned, "{stats:?}");
        let mut ended = std::mem::take(&mut *ran.lock());
        ended.extend(unrun(&report));
        accepted.sort_unstable();
        ended.sort_unstable();
        assert_eq!(accepted, ended);
    }
}

/// E-83
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_waits_for_room_hears_that_the_queue_is_closed() {
    for round in 0..100_u64 {
        let ring = Ring::builder().capacity(2).build().unwrap();
        let gate = Arc::new(Semaphore::new(0));
        let gated = async |_: u64, cx: Context<Arc<Semaphore>>| cx.state().acquire().await.unwrap().forget();
        let builder = Queue::with_worker(ring).state(gate.clone()).slots(if round.is_multiple_of(3) { 1 } else { 0 });
        let queue = if round % 3 == 1 { builder.producer() } else { builder.start(gated) }.unwrap();
        if round % 3 == 2 {
            queue.worker().pause().await.unwrap();
            queue.resize(1).await.unwrap();
        }
        queue.enqueue(0).await.unwrap();
        while round.is_multiple_of(3) && queue.stats().running == 0 {
            tokio::task::yield_now().await;
        }
        while queue.try_enqueue(0).await.is_ok() {}
        let waiting: Vec<_> = (1..=5)
            .map(|job| {
                let queue = queue.clone();
                tokio::task::spawn(async move { (job, queue.enqueue(job).await.unwrap_err()) })
            })
            .collect();
        for _ in 0..round % 7 {
            tokio::task::yield_now().await;
        }
        let report = comes(queue.shutdown(Duration::ZERO)).await.unwrap();
        for waiting in waiting {
            let (job, error) = comes(waiting).await.unwrap();
            assert!(matches!(error, queue::EnqueueError::Closed(back) if back == job), "{error:?}");
        }
        assert_ring_adds_up(report.stats());
    }
}

/// E-83: a queue that will never start, for its builder is gone.
#[tokio::test(start_paused = true)]
async fn whoever_waits_hears_that_the_queue_will_never_start() {
    let ring = Ring::builder().capacity(1).build().unwrap();
    let builder = Queue::with_worker(ring);
    let enqueuer = builder.enqueuer();
    enqueuer.enqueue(1_u64).await.unwrap();
    let (waiting, ()) = tokio::join!(comes(enqueuer.enqueue(2)), async { drop(builder) });
    assert!(matches!(waiting, Err(queue::EnqueueError::Closed(2))));

    let builder = Queue::with_worker(Ring::new()).timeout(Duration::ZERO);
    let enqueuer = builder.enqueuer();
    builder.start(async |_: u64| ()).unwrap_err();
    assert!(matches!(enqueuer.try_enqueue(3).await, Err(queue::EnqueueError::Closed(3))));
}

/// E-84
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_may_meet_its_shutdown() {
    let before = Handle::current().metrics().num_alive_tasks();
    for round in 0..200_u64 {
        let ran = Arc::new(Mutex::new(0));
        let count = async |_: u64, cx: Context<Arc<Mutex<u64>>>| *cx.state().lock() += 1;
        let builder = Queue::with_worker(Ring::new()).slots(2).state(ran.clone());
        let enqueuer = builder.enqueuer();
        let producer = tokio::task::spawn(async move { enqueuer.enqueue(7).await.is_ok() });
        if round.is_multiple_of(2) {
            tokio::task::yield_now().await;
        }
        let queue = builder.start(count).unwrap();
        let time = if round % 4 < 2 { Duration::ZERO } else { LONG };
        let report = comes(queue.shutdown(time)).await.unwrap();
        let accepted = producer.await.unwrap();
        assert!(report.is_complete());
        assert_eq!(u64::from(accepted), *ran.lock() + unrun(&report).len() as u64, "{report:?}");
    }
    tasks_go(before).await;
}

/// A resize during a shutdown answers, and what it adds ends with the rest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resize_may_meet_a_shutdown() {
    let before = Handle::current().metrics().num_alive_tasks();
    for round in 0..200_u64 {
        let queue = Queue::with_worker(Ring::new()).slots(2).start(async |_: u64| tokio::task::yield_now().await);
        let queue = queue.unwrap();
        fill(&queue, 20).await;
        let resizing = tokio::task::spawn({
            let queue = queue.clone();
            async move {
                for slots in [4, 0, 3, 1, 8, 0, 2] {
                    let answer = queue.resize(slots).await;
                    assert!(matches!(answer, Ok(()) | Err(queue::ResizeError::Closed)));
                }
            }
        });
        for _ in 0..round % 10 {
            tokio::task::yield_now().await;
        }
        let report = comes(queue.shutdown(LONG)).await.unwrap();
        comes(resizing).await.unwrap();
        let stats = *report.stats();
        assert_eq!((stats.accepted, stats.running, stats.held), (20, 0, 0));
        assert_eq!(stats.done + stats.returned, 20, "{stats:?}");
    }
    tasks_go(before).await;
}

/// A resize down that running handlers have yet to follow holds in the drain, too: never more handlers than slots.
#[tokio::test(start_paused = true)]
async fn a_drain_starts_no_more_handlers_than_there_are_slots() {
    let gate = Arc::new(Semaphore::new(0));
    let gated = async |_: u64, cx: Context<Arc<Semaphore>>| cx.state().acquire().await.unwrap().forget();
    let queue = Queue::with_worker(Ring::new()).slots(4).state(gate.clone()).start(gated).unwrap();
    fill(&queue, 12).await;
    settle_down(|| queue.stats().running == 4).await;
    queue.resize(1).await.unwrap();
    let watch = async {
        gate.add_permits(4);
        settle_down(|| queue.stats().done == 4 && queue.stats().running == 1).await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
            assert_eq!(queue.stats().running, 1);
        }
        gate.add_permits(100);
    };
    let (report, ()) = tokio::join!(queue.shutdown(LONG), watch);
    assert_eq!(report.unwrap().stats().done, 12);
}
