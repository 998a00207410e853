//! What slots ask of a worker: how often, for how many, and what they make of an odd answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::tokio;
use queue::core::{RequestError, Verdict, WorkerError};
use queue::{Context, Event, HealthState, Queue, Ring};
use tokio::time::{Instant, sleep};
use tracing::level_filters::LevelFilter;

use crate::common::{Broker, Gate, LONG, Log, Op, Spy, end, ms, settle_down, until};

async fn gated(_: String, cx: Context<Gate>) {
    cx.state().pass().await;
}

/// E-29
#[tokio::test(start_paused = true)]
async fn only_free_slots_ask_and_each_for_one() {
    let (broker, gate) = (Broker::new(), Gate::new());
    let queue = Queue::with_worker(broker.clone()).slots(4).state(gate.clone()).start(gated).unwrap();
    let requests = || broker.ops().iter().filter(|op| matches!(op, Op::Request(_))).count();
    for busy in 0..4 {
        settle_down().await;
        assert_eq!((broker.waiting(), queue.stats().running), (4 - busy, busy as u64));
        queue.enqueue(busy.to_string()).await.unwrap();
    }
    for job in ["beyond", "far beyond"] {
        queue.enqueue(job.to_owned()).await.unwrap();
    }
    settle_down().await;
    assert_eq!((broker.waiting(), requests(), broker.leased().len()), (0, 4, 4));
    assert_eq!(broker.ready(), 2, "nothing is fetched that could not start");
    queue.resize(2).await.unwrap();
    settle_down().await;
    assert_eq!((broker.waiting(), requests()), (0, 4));
    gate.open(6);
    until(|| queue.stats().done == 6).await;
    settle_down().await;
    assert_eq!(broker.waiting(), 2);
    assert!(broker.ops().iter().all(|op| !matches!(op, Op::Request(max) if *max != 1)));
    let told = |op| if let Op::Demand(demand) = op { Some((demand.slots, demand.each, demand.ahead)) } else { None };
    assert_eq!(broker.ops().into_iter().filter_map(told).collect::<Vec<_>>(), [(4, 1, 0), (2, 1, 0)]);
    assert!(matches!(broker.ops()[0], Op::Demand(_)), "told before the first request");
    drop(end(&queue).await);
}

/// E-27: what a slot had fetched goes back, no attempt spent.
#[tokio::test(start_paused = true)]
async fn nothing_that_was_fetched_starts_after_a_resize_to_nothing() {
    let (broker, gate) = (Broker::new().with_share(4), Gate::new());
    for job in ["a", "b", "c", "d"] {
        broker.publish(job.as_bytes());
    }
    let queue = Queue::with_worker(broker.clone()).slots(1).state(gate.clone()).start(gated).unwrap();
    until(|| queue.stats().running == 1).await;
    assert_eq!((queue.stats().held, broker.ready()), (3, 0));
    queue.resize(0).await.unwrap();
    gate.open(4);
    until(|| queue.stats().done == 1).await;
    sleep(LONG).await;
    assert_eq!((queue.stats().started, queue.stats().held, broker.ready()), (1, 0, 3));
    let back = broker.verdicts().split_off(1);
    assert!(
        back.iter()
            .all(|(verdict, meta, _)| { *verdict == Verdict::Return { after: Duration::ZERO } && meta.attempt == 1 })
    );
    queue.resize(1).await.unwrap();
    until(|| queue.stats().done == 4).await;
    drop(end(&queue).await);
}

/// E-27: on a busy ring, from another thread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_starts_after_a_resize_to_nothing() {
    let started = Arc::new(AtomicUsize::new(0));
    let count = started.clone();
    let handler = move |job: u32| {
        count.fetch_add(1, Ordering::SeqCst);
        async move {
            if job.is_multiple_of(5) {
                tokio::task::yield_now().await;
            }
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(4).start(handler).unwrap();
    for round in 0..1_000 {
        queue.enqueue_many(0..200).await.unwrap();
        for _ in 0..round % 10 {
            tokio::task::yield_now().await;
        }
        queue.resize(0).await.unwrap();
        let before = started.load(Ordering::SeqCst);
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        assert_eq!(started.load(Ordering::SeqCst), before, "round {round}");
        queue.resize(4).await.unwrap();
    }
    assert_eq!(end(&queue).await.stats().done, 200_000);
}

/// E-32: all slots together, so that no number of them is a hot loop.
#[tokio::test(start_paused = true)]
async fn a_worker_that_answers_with_nothing_is_asked_fifty_times_a_second() {
    for slots in [1, 4] {
        let nothing = Spy::answering(Ring::<u32>::new(), |_| Some(Ok(())));
        let calls = nothing.calls.clone();
        let queue = Queue::with_worker(nothing).slots(slots).start(async |_: u32| ()).unwrap();
        settle_down().await;
        let first = calls.requests();
        assert_eq!(first, slots);
        sleep(ms(10_000)).await;
        let calls = calls.requests() - first;
        assert!((490..=500).contains(&calls), "{calls} of {slots} slots");
        let now = Instant::now();
        drop(end(&queue).await);
        assert_eq!(Instant::now(), now, "no wait holds a shutdown up");
    }
}

/// E-32: one empty answer delays the next request by 20 ms, however many there were before.
#[tokio::test(start_paused = true)]
async fn an_empty_answer_is_soon_forgotten() {
    let twice = Spy::answering(Ring::new(), |number| (number == 0 || number == 2).then_some(Ok(())));
    let queue = Queue::with_worker(twice).slots(1).start(async |_: u32| ()).unwrap();
    for job in 1..=2 {
        settle_down().await;
        let start = Instant::now();
        queue.enqueue(job).await.unwrap();
        sleep(ms(20)).await;
        until(|| queue.stats().done == u64::from(job)).await;
        assert_eq!(start.elapsed(), ms(20));
        sleep(ms(1_000)).await;
    }
    drop(end(&queue).await);
}

/// E-33: nor does a drain ask more often: of a worker that only fails it ends at its deadline.
#[tokio::test(start_paused = true)]
async fn a_drain_waits_between_requests_that_fail() {
    let errors = Spy::answering(Ring::<u32>::new(), |number| {
        // Without the waits it would ask for ever, and the clock stand.
        Some(Err(if number < 1_000 { WorkerError::retry("no").into() } else { RequestError::Closed }))
    });
    let calls = errors.calls.clone();
    let queue = Queue::with_worker(errors).slots(1).start(async |_: u32| ()).unwrap();
    queue.enqueue(1).await.unwrap();
    settle_down().await;
    let (first, start) = (calls.requests(), Instant::now());
    let report = queue.shutdown(ms(10_000)).await.unwrap();
    assert_eq!((report.is_complete(), report.unrun(), start.elapsed()), (true, 1, ms(10_000)));
    let calls = calls.requests() - first;
    assert!((2..200).contains(&calls), "{calls}");
}

/// E-34
#[tokio::test(start_paused = true)]
async fn a_request_that_panics_is_made_again() {
    let panics = Spy::answering(Ring::new(), |number| {
        assert!(number >= 5, "planned: request {number}");
        None
    });
    let calls = panics.calls.clone();
    let queue = Queue::with_worker(panics).slots(1).start(async |_: u32| ()).unwrap();
    let mut events = queue.events();
    queue.enqueue(1).await.unwrap();
    settle_down().await;
    assert_eq!((queue.health().state, calls.requests()), (HealthState::Failing, 1));
    for number in 0..5 {
        let Some(Event::Failed(error)) = events.next().await else { panic!("no event of panic {number}") };
        let (what, said) = ("the worker panicked in `request`", format!("planned: request {number}"));
        assert!(error.contains(what) && error.contains(&said) && error.contains(file!()), "{error}");
        assert_eq!(queue.health().last_error, Some(error));
    }
    sleep(ms(5_000)).await;
    assert_eq!(queue.stats().done, 1);
    assert!(queue.health().is_healthy());
    assert_eq!(end(&queue).await.stats().slots, 0);
}

/// E-34
#[tokio::test(start_paused = true)]
async fn a_worker_that_is_closed_though_nobody_asked_stops_the_queue() {
    let (log, _guard) = Log::listen(LevelFilter::ERROR);
    let closed = Spy::answering(Ring::new(), |_| Some(Err(RequestError::Closed)));
    let calls = closed.calls.clone();
    let queue = Queue::with_worker(closed).slots(3).start(async |_: u32| ()).unwrap();
    let mut events = queue.events();
    queue.enqueue(1).await.unwrap();
    sleep(LONG).await;
    assert_eq!((queue.health().state, queue.health().is_healthy()), (HealthState::Stopped, false));
    assert!(matches!(events.next().await, Some(Event::Closed)));
    assert_eq!((calls.requests(), log.lines("The worker is closed though nobody asked").len()), (3, 1));
    let report = end(&queue).await;
    assert_eq!((report.stats().started, report.stats().returned, report.unrun()), (0, 1, 1));
    assert_eq!(calls.requests(), 3);
}
