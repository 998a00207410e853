//! A broker-like worker that fails: lost ownership, verdicts and requests that do not get through, bodies that are no job.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::tokio;
use parking_lot::Mutex;
use queue::core::{Loss, Verdict, WorkerError};
use queue::{CancelReason, Context, Event, Events, HealthState, Queue, Reason, Retry};
use tokio::time::{Instant, sleep};
use tracing::level_filters::LevelFilter;

use crate::common::{Broker, Gate, LONG, Log, Op, end, ms, settle_down, until};

/// A lost job: its handler is told why and dropped, its slot is free, and nothing is settled.
#[tokio::test(start_paused = true)]
async fn a_lost_job_is_cancelled_with_the_reason() {
    let broker = Broker::new();
    let reasons = Arc::new(Mutex::new(Vec::new()));
    let notes = reasons.clone();
    let handler = move |job: String, cx: Context| {
        let notes = notes.clone();
        async move {
            if job == "waits" {
                let reason = cx.cancelled().await;
                notes.lock().push((reason, cx.fence()));
                std::future::pending::<()>().await;
            }
        }
    };
    let queue = Queue::with_worker(broker.clone()).slots(1).start(handler).unwrap();
    for (turn, loss) in [Loss::LeaseExpired, Loss::Disconnected, Loss::Revoked].into_iter().enumerate() {
        let id = queue.enqueue("waits".to_owned()).await.unwrap();
        until(|| queue.stats().running == 1).await;
        settle_down().await;
        let now = Instant::now();
        broker.lose(id, loss);
        until(|| queue.stats().lost == turn as u64 + 1).await;
        assert_eq!(Instant::now(), now, "at once");
        assert_eq!(reasons.lock()[turn], (CancelReason::LostOwnership(loss), Some(7)));
    }
    queue.enqueue("next".to_owned()).await.unwrap();
    until(|| queue.stats().done == 1).await;
    let stats = queue.stats();
    assert_eq!((stats.cut_short, stats.lost, stats.failed, stats.received), (3, 3, 0, 4));
    assert!(matches!(broker.verdicts()[..], [(Verdict::Ack, ..)]));
    drop(end(&queue).await);
}

/// A verdict that comes too late is a normal answer: not done, not an error, not asked again.
#[tokio::test(start_paused = true)]
async fn a_late_verdict_is_counted_as_lost() {
    let (broker, gate) = (Broker::new(), Gate::new());
    let pass = gate.clone();
    let owner = broker.clone();
    let handler = move |_: String, cx: Context| {
        let (pass, owner) = (pass.clone(), owner.clone());
        async move {
            pass.pass().await;
            // Lost in the very poll that ends the handler.
            owner.lose(cx.id(), Loss::Revoked);
        }
    };
    let queue = Queue::with_worker(broker.clone()).slots(1).start(handler).unwrap();
    queue.enqueue("job".to_owned()).await.unwrap();
    gate.open(1);
    until(|| queue.stats().lost == 1).await;
    sleep(LONG).await;
    let stats = queue.stats();
    assert_eq!((stats.done, stats.ok, stats.lost, stats.running, stats.held), (0, 1, 1, 0, 0));
    assert_eq!(broker.ops().iter().filter(|op| matches!(op, Op::Lost)).count(), 1);
    drop(end(&queue).await);
}

/// A verdict that did not get through is asked again until it has.
#[tokio::test(start_paused = true)]
async fn a_failed_settle_is_tried_again() {
    let broker = Broker::new();
    let (log, _guard) = Log::listen(LevelFilter::WARN);
    let handler = async |job: String| if job == "bad" { Err("no") } else { Ok(()) };
    let queue = Queue::with_worker(broker.clone()).slots(1).retry(Retry::none()).start(handler).unwrap();
    let mut events = queue.events();
    for (job, turn) in [("good", 1), ("bad", 2)] {
        for _ in 0..7 {
            broker.fail_next_settle(WorkerError::reconnect("the connection is gone"));
        }
        let before = Instant::now();
        queue.enqueue(job.to_owned()).await.unwrap();
        sleep(ms(60_000)).await;
        assert!(before.elapsed() >= ms(60_000));
        assert_eq!(broker.verdicts().len(), turn);
        assert_eq!(queue.health().state, HealthState::Consuming);
        // Seven failures within a few seconds: told as an event each, and in the log once a second at most.
        assert_eq!(failures(&mut events), 7);
        let lines = log.lines("A verdict did not reach the broker.").len();
        assert!(lines >= turn && lines < 7 * turn, "{lines}");
    }
    let stats = queue.stats();
    assert_eq!((stats.done, stats.dead, stats.lost, stats.started), (1, 1, 0, 2), "no handler ran twice");
    drop(end(&queue).await);
}

/// A fatal error of a settle ends the attempts to reach the broker: the job is the broker's again.
#[tokio::test(start_paused = true)]
async fn a_fatal_settle_gives_the_job_up() {
    let broker = Broker::new();
    broker.fail_next_settle(WorkerError::fatal("no such queue"));
    let queue = Queue::with_worker(broker.clone()).slots(1).start(async |_: String| ()).unwrap();
    queue.enqueue("job".to_owned()).await.unwrap();
    until(|| queue.stats().lost == 1).await;
    queue.enqueue("next".to_owned()).await.unwrap();
    until(|| queue.stats().done == 1).await;
    assert_eq!((broker.verdicts().len(), queue.stats().received), (1, 2));
    drop(end(&queue).await);
}

/// A shutdown does not wait for a broker that answers no verdict.
#[tokio::test(start_paused = true)]
async fn shutdown_gives_up_on_verdicts_that_do_not_get_through() {
    let broker = Broker::new();
    for _ in 0..10_000 {
        broker.fail_next_settle(WorkerError::reconnect("the connection is gone"));
    }
    let queue = Queue::with_worker(broker.clone()).slots(1).start(async |_: String| ()).unwrap();
    queue.enqueue("job".to_owned()).await.unwrap();
    until(|| broker.ops().iter().any(|op| matches!(op, Op::FailedSettle))).await;
    let start = Instant::now();
    let report = queue.shutdown(ms(10_000)).await.unwrap();
    assert!(report.is_complete() && start.elapsed() <= ms(11_000));
    assert_eq!((report.stats().lost, report.stats().done), (1, 0));
}

/// E-33: after full-jitter waits from 100 ms up to 5 s, for ever; seen in health, events and log.
#[tokio::test(start_paused = true)]
async fn failed_requests_back_off_and_go_on() {
    let broker = Broker::new();
    let (log, _guard) = Log::listen(LevelFilter::WARN);
    for _ in 0..200 {
        broker.fail_next_request(WorkerError::reconnect("the connection is gone"));
    }
    let queue = Queue::with_worker(broker.clone()).slots(1).start(async |_: String| ()).unwrap();
    let mut events = queue.events();
    queue.enqueue("job".to_owned()).await.unwrap();
    until(|| queue.health().state == HealthState::Failing).await;
    assert_eq!(queue.health().last_error.as_deref(), Some("the connection is gone"));
    assert!(!queue.health().is_healthy());
    sleep(ms(200 * 5_000)).await;
    assert!(queue.health().is_healthy(), "{:?}", queue.health());
    assert_eq!(queue.stats().done, 1);
    let failed = |op| if let Op::FailedRequest(at) = op { Some(at) } else { None };
    let times: Vec<_> = broker.ops().into_iter().filter_map(failed).collect();
    let waits: Vec<Duration> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits.len(), 199);
    // A timer rounds up to the next millisecond.
    let bound = |retry: usize| ms((100_u64 << retry.min(6)).min(5_000) + 1);
    assert!(waits.iter().enumerate().all(|(retry, wait)| *wait <= bound(retry)), "{waits:?}");
    let late: Duration = waits[20..].iter().sum();
    let mean = late / 179;
    assert!(mean > ms(1_800) && mean < ms(3_200), "{mean:?}");
    assert_eq!(failures(&mut events), 200);
    let lines = log.lines("A request failed").len();
    let all: Duration = waits.iter().sum();
    assert!(lines > 20 && lines as u64 <= all.as_secs() + 1, "{lines} lines in {all:?}");

    // One success, and the waits begin anew.
    broker.fail_next_request(WorkerError::retry("once"));
    let start = Instant::now();
    queue.enqueue("next".to_owned()).await.unwrap();
    sleep(ms(110)).await;
    assert!(queue.stats().done == 2, "after {:?}", start.elapsed());
    drop(end(&queue).await);
}

/// How many failures were told since the last look, those included that this reader was too slow for.
fn failures(events: &mut Events) -> u64 {
    let before = events.missed();
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let mut seen = 0;
    while let Poll::Ready(Some(event)) = pin!(events.next()).poll(&mut cx) {
        assert!(matches!(event, Event::Failed(_)), "{event:?}");
        seen += 1;
    }
    seen + events.missed() - before
}

/// A shutdown cuts the wait of a failed request.
#[tokio::test(start_paused = true)]
async fn shutdown_cuts_the_wait_of_a_failed_request() {
    let broker = Broker::new();
    for _ in 0..1_000 {
        broker.fail_next_request(WorkerError::reconnect("the connection is gone"));
    }
    let queue = Queue::with_worker(broker.clone()).slots(3).start(async |_: String| ()).unwrap();
    sleep(ms(20_000)).await;
    let now = Instant::now();
    drop(end(&queue).await);
    assert_eq!(Instant::now(), now);
}

/// E-63: a codec that panics, and one that cannot read: dead with the raw body, and the slot goes on.
#[tokio::test(start_paused = true)]
async fn a_body_that_is_no_job_is_a_dead_letter() {
    let broker = Broker::new();
    let queue = Queue::with_worker(broker.clone()).slots(1).start(async |_: String| ()).unwrap();
    let bodies: [&[u8]; 3] = [b"\xff\xfe", b"panic", b"fine"];
    for body in bodies {
        broker.publish(body);
    }
    until(|| queue.stats().done == 1).await;
    sleep(LONG).await;
    let verdicts = broker.verdicts();
    assert_eq!(verdicts.len(), 3);
    for ((verdict, meta, kept), body) in verdicts.iter().zip(bodies) {
        assert_eq!((kept.as_deref(), meta.attempt), (Some(body), 1), "{verdict:?}");
        match verdict {
            Verdict::Dead { cause } => assert_eq!(cause.reason, Reason::Undecodable),
            other => assert_eq!((other, body), (&Verdict::Ack, &b"fine"[..])),
        }
    }
    let stats = queue.stats();
    assert_eq!((stats.dead, stats.started, stats.done, stats.received), (2, 1, 1, 3));
    assert_eq!((stats.running, stats.held), (0, 0));
    drop(end(&queue).await);
}
