//! The same engine over a broker-like worker: verdicts that need I/O, in the order in which things happen.

use std::sync::Arc;
use std::time::Duration;

use crate::tokio;
use parking_lot::Mutex;
use queue::core::Verdict;
use queue::{Context, Error, Outcome, Queue, Reason, Retry};
use tokio::time::{Instant, sleep};

use crate::common::{Broker, Gate, LONG, Op, end, ms, settle_down, until};

/// E-36: one ack, and not before the handler has returned.
#[tokio::test(start_paused = true)]
async fn done_is_one_ack_after_the_handler() {
    let (broker, gate) = (Broker::new(), Gate::new());
    let pass = gate.clone();
    let handler = move |_: String| {
        let pass = pass.clone();
        async move { pass.pass().await }
    };
    let queue = Queue::with_worker(broker.clone()).slots(1).start(handler).unwrap();
    let id = queue.enqueue("job".to_owned()).await.unwrap();
    until(|| queue.stats().running == 1).await;
    settle_down().await;
    assert!(broker.verdicts().is_empty());
    gate.open(1);
    until(|| queue.stats().done == 1).await;
    sleep(LONG).await;
    let verdicts = broker.verdicts();
    let [(Verdict::Ack, meta, Some(_))] = &verdicts[..] else { panic!("{verdicts:?}") };
    assert_eq!(meta.id, id);
    drop(end(&queue).await);
}

/// E-37, E-51
#[tokio::test(start_paused = true)]
async fn an_error_is_retried_with_the_same_message_then_dead() {
    let broker = Broker::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    let handler = move |job: String, cx: Context| {
        notes.lock().push((cx.attempt(), job, cx.header("tenant").map(<[u8]>::to_vec), Instant::now()));
        let outer: Error = std::io::Error::other("inner".parse::<u8>().unwrap_err()).into();
        async { Err::<(), _>(outer) }
    };
    let retry = Retry::fixed(2, ms(100));
    let queue = Queue::with_worker(broker.clone()).slots(1).retry(retry).start(handler).unwrap();
    let start = Instant::now();
    let id = queue.job("job".to_owned()).header("tenant", vec![0xff]).enqueue().await.unwrap();
    sleep(LONG).await;
    let wanted = |attempt: u32| (attempt, "job".to_owned(), Some(vec![0xff]), start + ms(100) * (attempt - 1));
    assert_eq!(*seen.lock(), [1, 2, 3].map(wanted));
    let verdicts = broker.verdicts();
    let [(Verdict::Dead { cause }, meta, Some(body))] = &verdicts[..] else { panic!("{verdicts:?}") };
    assert_eq!((cause.reason, &*cause.error), (Reason::AttemptsExhausted, "invalid digit found in string"));
    assert_eq!((meta.id, meta.attempt, &body[..]), (id, 3, &b"job"[..]));
    assert_eq!(meta.extra.as_ref().unwrap().headers.get("tenant"), Some(&[0xff][..]));
    let stats = queue.stats();
    assert_eq!((stats.received, stats.failed, stats.dead, stats.running, stats.held), (1, 3, 1, 0, 0));
    drop(end(&queue).await);
}

/// E-38, E-39
#[tokio::test(start_paused = true)]
async fn permanent_errors_and_snoozes() {
    let broker = Broker::new();
    let handler = async |job: String, cx: Context| match &*job {
        "permanent" => Outcome::failed(Error::permanent("no")),
        "snooze" if cx.is_redelivered() => Outcome::done(),
        _ => Outcome::snooze(Duration::ZERO),
    };
    let queue = Queue::with_worker(broker.clone()).slots(1).start(handler).unwrap();
    queue.enqueue("permanent".to_owned()).await.unwrap();
    until(|| queue.stats().dead == 1).await;
    let (verdict, meta, _) = broker.verdicts().remove(0);
    assert!(matches!(verdict, Verdict::Dead { cause } if cause.reason == Reason::Permanent));
    assert_eq!(meta.attempt, 1);

    queue.enqueue("snooze".to_owned()).await.unwrap();
    until(|| broker.verdicts().len() > 10).await;
    let snoozes = broker.verdicts().split_off(1);
    assert!(
        snoozes
            .iter()
            .all(|(verdict, meta, _)| { *verdict == Verdict::Return { after: Duration::ZERO } && meta.attempt == 1 })
    );
    drop(end(&queue).await);
}

/// E-43, E-47: where the broker cannot delay, a job waits in its slot.
#[tokio::test(start_paused = true)]
async fn a_retry_waits_in_its_slot_where_the_broker_cannot_delay() {
    let broker = Broker::new();
    let handler = async |job: String, cx: Context| if job == "a" && cx.attempt() < 3 { Err("no") } else { Ok(()) };
    let retry = Retry::fixed(5, ms(10_000));
    let queue = Queue::with_worker(broker.clone()).slots(1).retry(retry).start(handler).unwrap();
    let a = queue.enqueue("a".to_owned()).await.unwrap();
    let b = queue.enqueue("b".to_owned()).await.unwrap();
    until(|| queue.stats().failed == 1).await;
    for _ in 0..19 {
        assert_eq!((queue.stats().running, queue.stats().held, broker.ready()), (1, 0, 1));
        sleep(ms(1_000)).await;
    }
    sleep(ms(2_000)).await;
    let acked: Vec<_> = broker.verdicts().into_iter().map(|(_, meta, _)| (meta.id, meta.attempt)).collect();
    assert_eq!(acked, [(a, 3), (b, 1)]);
    drop(end(&queue).await);
}

/// E-49: a shutdown gives the waiting job back to the broker, with the attempts it has spent.
#[tokio::test(start_paused = true)]
async fn shutdown_hands_a_waiting_retry_to_the_broker() {
    let broker = Broker::new();
    let retry = Retry::fixed(5, ms(60_000));
    let handler = async |_: String| Err::<(), _>("no");
    let queue = Queue::with_worker(broker.clone()).slots(1).retry(retry).start(handler).unwrap();
    queue.enqueue("job".to_owned()).await.unwrap();
    sleep(ms(70_000)).await;
    let now = Instant::now();
    let report = end(&queue).await;
    assert_eq!(Instant::now(), now);
    assert_eq!((report.stats().started, report.stats().retried, report.stats().dead), (2, 1, 0));
    let (verdict, meta, _) = broker.verdicts().remove(0);
    assert_eq!((verdict, meta.attempt), (Verdict::Retry { after: ms(50_000) }, 2));
    assert_eq!(broker.ready(), 1);
}

/// E-54, E-62, E-64
#[tokio::test(start_paused = true)]
async fn timeouts_and_panics_become_verdicts() {
    let broker = Broker::new();
    let handler = async |job: String| {
        assert!(job != "panics", "planned");
        sleep(ms(200)).await;
    };
    let builder = Queue::with_worker(broker.clone()).slots(1).timeout(ms(100)).retry(Retry::none());
    let queue = builder.start(handler).unwrap();
    for job in ["panics", "overruns"] {
        queue.enqueue(job.to_owned()).await.unwrap();
    }
    sleep(LONG).await;
    let causes = broker.verdicts().into_iter().map(|(verdict, ..)| match verdict {
        Verdict::Dead { cause } => cause.error,
        other => panic!("{other:?}"),
    });
    assert_eq!(causes.collect::<Vec<_>>(), ["panicked: planned".into(), "timeout".into()] as [Box<str>; 2]);
    let stats = queue.stats();
    assert_eq!((stats.panicked, stats.timed_out, stats.dead, stats.received), (1, 1, 2, 2));
    drop(end(&queue).await);
}

/// E-6
#[tokio::test(start_paused = true)]
async fn a_producer_never_requests_from_a_broker() {
    let broker = Broker::new();
    let queue = Queue::with_worker(broker.clone()).producer().unwrap();
    for job in 0..10 {
        queue.enqueue(job.to_string()).await.unwrap();
    }
    sleep(LONG).await;
    drop(end(&queue).await);
    assert_eq!(broker.ready(), 10);
    assert!(!broker.ops().iter().any(|op| matches!(op, Op::Request(_))));
}

/// At the deadline of a shutdown a running job goes back, with no attempt spent; nothing is asked after the end.
#[tokio::test(start_paused = true)]
async fn a_running_job_goes_back_at_the_deadline() {
    let broker = Broker::new();
    let handler = async |_: String| std::future::pending::<()>().await;
    let queue = Queue::with_worker(broker.clone()).slots(2).start(handler).unwrap();
    for job in ["first", "second", "third"] {
        queue.enqueue(job.to_owned()).await.unwrap();
    }
    until(|| queue.stats().running == 2).await;
    let report = queue.shutdown(ms(100)).await.unwrap();
    let stats = report.stats();
    assert_eq!((stats.returned, stats.cut_short, stats.received, stats.failed), (2, 2, 2, 0));
    assert!(
        broker
            .verdicts()
            .iter()
            .all(|(verdict, meta, _)| { *verdict == Verdict::Return { after: Duration::ZERO } && meta.attempt == 1 })
    );
    assert_eq!(broker.ready(), 3);
    assert!(matches!(broker.ops().last(), Some(Op::Shutdown)));
}
