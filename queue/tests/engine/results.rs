//! What a handler answers: the result kinds, every form of handler, and what becomes of the job.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::tokio;
use parking_lot::Mutex;
use queue::{
    Context, DeadLetters, Error, Handler, HandlerResult, Inspects, Outcome, Queue, Reason, Retry, Ring, blocking,
};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};

use crate::common::{LONG, dead, end, ms, until};

/// E-35
#[tokio::test(start_paused = true)]
async fn one_slot_serves_every_kind_of_end() {
    let handler = async |job: &'static str, cx: Context| -> Result<(), &'static str> {
        match job {
            "error" => Err("error"),
            "panic" => panic!("planned"),
            "fails once" if cx.attempt() == 1 => Err("once"),
            "overruns" => {
                sleep(ms(200)).await;
                Ok(())
            }
            _ => Ok(()),
        }
    };
    let builder = Queue::with_worker(Ring::new()).slots(1).retry(Retry::none()).timeout(ms(100));
    let queue = builder.start(handler).unwrap();
    queue.enqueue("error").await.unwrap();
    queue.enqueue("panic").await.unwrap();
    queue.job("fails once").retries(1).enqueue().await.unwrap();
    queue.enqueue("overruns").await.unwrap();
    queue.enqueue("ok").await.unwrap();
    sleep(ms(1_000)).await;
    let report = end(&queue).await;
    let stats = report.stats();
    assert_eq!((stats.done, stats.dead, stats.accepted), (2, 3, 5));
    assert_eq!((stats.ok, stats.failed, stats.panicked, stats.timed_out), (2, 2, 1, 1));
}

/// E-36
#[tokio::test(start_paused = true)]
async fn unit_and_ok_are_done_once() {
    let unit = Queue::with_worker(Ring::new()).slots(1).start(async |_: u32| yield_now().await).unwrap();
    let ok = Queue::with_worker(Ring::new()).slots(1).start(async |_: u32| Ok::<(), Error>(())).unwrap();
    for queue in [unit, ok] {
        queue.enqueue(1).await.unwrap();
        let report = end(&queue).await;
        let stats = report.stats();
        assert_eq!((stats.done, stats.started, stats.ok, stats.retried, stats.dead), (1, 1, 1, 0, 0));
        assert_eq!(report.unrun(), 0);
    }
}

#[derive(Debug)]
struct Layered(&'static str, Option<Box<Self>>);

impl fmt::Display for Layered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Layered {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.1.as_deref().map(|source| source as _)
    }
}

fn layered() -> Layered {
    let refused = Layered("connection refused", None);
    let smtp = Layered("no answer from smtp", Some(Box::new(refused)));
    Layered("the mail was not sent", Some(Box::new(smtp)))
}

/// E-37
#[tokio::test(start_paused = true)]
async fn an_error_is_retried_then_dead_with_all_its_causes() {
    let starts = Arc::new(AtomicU32::new(0));
    let count = starts.clone();
    let handler = move |_: u32| {
        count.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Err::<(), _>(layered()))
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(Retry::fixed(2, ms(5))).start(handler).unwrap();
    queue.enqueue(1).await.unwrap();
    sleep(ms(100)).await;
    assert_eq!((starts.load(Ordering::Relaxed), queue.stats().failed, queue.stats().dead), (3, 3, 1));
    let letter = dead(&queue).await.remove(0);
    assert_eq!(letter.cause.reason, Reason::AttemptsExhausted);
    assert_eq!(&*letter.cause.error, "the mail was not sent: no answer from smtp: connection refused");
    assert_eq!((letter.meta.attempt, letter.decode().unwrap()), (3, Some(1)));
    drop(end(&queue).await);
}

/// E-38
#[tokio::test(start_paused = true)]
async fn a_permanent_error_ends_the_job_at_once() {
    let plain = async |_: u32| -> Result<(), Error> { Err(Error::permanent(layered())) };
    let outcome = async |_: u32| Outcome::failed(Error::permanent("no such account"));
    let start = || Queue::with_worker(Ring::new()).slots(1).retry(Retry::exponential(5));
    let queues = [start().start(plain).unwrap(), start().start(outcome).unwrap()];
    let texts = ["the mail was not sent: no answer from smtp: connection refused", "no such account"];
    for (queue, text) in queues.into_iter().zip(texts) {
        queue.enqueue(1).await.unwrap();
        sleep(LONG).await;
        let letter = dead(&queue).await.remove(0);
        assert_eq!((letter.cause.reason, &*letter.cause.error, letter.meta.attempt), (Reason::Permanent, text, 1));
        assert_eq!((queue.stats().started, queue.stats().failed, queue.stats().dead), (1, 1, 1));
        drop(end(&queue).await);
    }
}

/// The attempts of a queue of one job, and when they started.
type Starts = Arc<Mutex<Vec<(u32, Instant)>>>;

/// E-39
#[tokio::test(start_paused = true)]
async fn retry_after_spends_an_attempt_and_waits_as_asked() {
    let starts = Starts::default();
    let notes = starts.clone();
    let handler = move |_: u32, cx: Context| {
        notes.lock().push((cx.attempt(), Instant::now()));
        async { Outcome::retry_after(ms(7_000)) }
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(Retry::fixed(2, ms(1))).start(handler).unwrap();
    let start = Instant::now();
    queue.enqueue(1).await.unwrap();
    sleep(LONG).await;
    let after = |waits: u32| start + ms(7_000) * waits;
    assert_eq!(*starts.lock(), [(1, after(0)), (2, after(1)), (3, after(2))]);
    let letter = dead(&queue).await.remove(0);
    assert_eq!(letter.cause.reason, Reason::AttemptsExhausted);
    assert_eq!((queue.stats().failed, queue.stats().dead), (3, 1));
}

/// E-39
#[tokio::test(start_paused = true)]
async fn a_snooze_spends_none() {
    let starts = Starts::default();
    let notes = starts.clone();
    let handler = move |_: u32, cx: Context| {
        notes.lock().push((cx.attempt(), Instant::now()));
        let snoozes = notes.lock().len() < 20;
        async move { if snoozes { Outcome::snooze(ms(1_000)) } else { Outcome::done() } }
    };
    // More snoozes than attempts.
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(Retry::fixed(1, ms(1))).start(handler).unwrap();
    let start = Instant::now();
    queue.enqueue(1).await.unwrap();
    until(|| queue.stats().waiting == 1).await;
    sleep(LONG).await;
    assert_eq!(*starts.lock(), (0..20).map(|turn| (1, start + ms(1_000) * turn)).collect::<Vec<_>>());
    let stats = queue.stats();
    assert_eq!((stats.done, stats.dead, stats.failed, stats.cut_short), (1, 0, 0, 19));
}

/// E-39: a job that is neither retried nor kept when dead still comes back from its snooze.
#[tokio::test(start_paused = true)]
async fn a_snooze_needs_no_retries() {
    let turns = Arc::new(AtomicU32::new(0));
    let count = turns.clone();
    let handler = move |_: String| {
        let snoozes = count.fetch_add(1, Ordering::Relaxed) < 2;
        async move { if snoozes { Outcome::snooze(ms(10)) } else { Outcome::done() } }
    };
    let ring = Ring::builder().dead_letters(0).build().unwrap();
    let queue = Queue::with_worker(ring).slots(1).retry(Retry::none()).start(handler).unwrap();
    queue.enqueue("job".to_owned()).await.unwrap();
    sleep(ms(100)).await;
    assert_eq!((queue.stats().done, queue.stats().cancelled), (1, 0));
}

/// E-39: a worker that keeps no copy cannot do it, and says so.
#[tokio::test(start_paused = true)]
async fn a_snooze_of_a_moved_job_is_a_dead_letter_that_says_why() {
    let queue = Queue::with_worker(Ring::once()).slots(1).start(async |_: u32| Outcome::snooze(ms(10))).unwrap();
    queue.enqueue(1).await.unwrap();
    until(|| queue.stats().dead == 1).await;
    let letter = queue.worker().dead_letters(queue::Page::first(1)).await.unwrap().remove(0);
    assert!(letter.cause.error.contains("keeps no copy"), "{}", letter.cause);
    assert!(letter.decode().unwrap().is_none());
}

/// The state of the forms below: how many jobs they have seen.
#[derive(Clone, Default)]
struct Seen(Arc<AtomicUsize>);

impl Seen {
    fn see(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// What each form below makes of a job.
fn result_of(job: u32) -> Result<(), &'static str> {
    if job == 2 { Err("two") } else { Ok(()) }
}

fn outcome_of(job: u32) -> Outcome {
    if job == 2 { Outcome::failed(Error::new("two")) } else { Outcome::done() }
}

async fn function(job: u32) -> Result<(), &'static str> {
    yield_now().await;
    result_of(job)
}

async fn function_with_context(job: u32, cx: Context<Seen>) -> Outcome {
    cx.state().see();
    outcome_of(job)
}

fn blocking_function(job: u32) -> Result<(), &'static str> {
    result_of(job)
}

/// Three jobs, the second fails each of its two attempts where the form can say so.
async fn run<M: 'static>(
    handler: impl Handler<M, u32, Seen, Output: HandlerResult, Future: Send>,
    sees: bool,
    fails: bool,
) {
    let seen = Seen::default();
    let builder = Queue::with_worker(Ring::new()).slots(1).retry(Retry::fixed(1, ms(1))).state(seen.clone());
    let queue = builder.start(handler).unwrap();
    for job in 1..=3 {
        queue.enqueue(job).await.unwrap();
    }
    let ended = || queue.stats().done + queue.stats().dead;
    while ended() < 3 {
        sleep(ms(1)).await;
    }
    let stats = queue.stats();
    let dead = u64::from(fails);
    assert_eq!((stats.done, stats.dead, stats.failed, stats.ok), (3 - dead, dead, 2 * dead, 3 - dead));
    assert_eq!(stats.started, 3 + dead);
    assert_eq!(queue.worker().inspect().await.unwrap().dead, dead);
    if sees {
        assert_eq!(seen.0.load(Ordering::Relaxed) as u64, stats.started);
    }
    drop(end(&queue).await);
}

/// E-40
#[tokio::test(start_paused = true)]
async fn async_forms_behave_alike() {
    run(function, false, true).await;
    run(function_with_context, true, true).await;
    run(async |job: u32| result_of(job), false, true).await;
    run(|job: u32| async move { outcome_of(job) }, false, true).await;
    run(|job: u32| std::future::ready(result_of(job)), false, true).await;
    run(|_: u32| async {}, false, false).await;
    run(|_: u32, cx: Context<Seen>| async move { cx.state().see() }, true, false).await;
    let closure = async |job: u32, cx: Context<Seen>| {
        cx.state().see();
        result_of(job).map_err(Error::new)
    };
    run(closure, true, true).await;
}

/// E-40
#[tokio::test]
async fn blocking_forms_behave_alike() {
    run(blocking(blocking_function), false, true).await;
    run(blocking(outcome_of), false, true).await;
    run(blocking(|_: u32| ()), false, false).await;
    let with_context = |job: u32, cx: Context<Seen>| {
        cx.state().see();
        result_of(job).map_err(Error::new)
    };
    run(blocking(with_context), true, true).await;
}
