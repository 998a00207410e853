//! Timeouts and deadlines of async handlers: when, never before, and what becomes of the job.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use crate::tokio;
use parking_lot::Mutex;
use queue::core::Clock;
use queue::{Context, Queue, Reason, Retry, Ring};
use tokio::time::{Instant, sleep};

use crate::common::{Gate, dead, end, ms, until};

/// Notes when it is dropped.
struct Guard(Arc<Mutex<Vec<Instant>>>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.lock().push(Instant::now());
    }
}

/// E-54
#[tokio::test(start_paused = true)]
async fn an_overrun_ends_at_the_limit_or_a_tick_later() {
    let (starts, drops) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let (started, dropped) = (starts.clone(), drops.clone());
    let handler = move |_: u32| {
        started.lock().push(Instant::now());
        let guard = Guard(dropped.clone());
        async move {
            sleep(ms(200)).await;
            drop(guard);
        }
    };
    let builder = Queue::with_worker(Ring::new()).slots(1).timeout(ms(100)).retry(Retry::none());
    let queue = builder.start(handler).unwrap();
    for job in 0..5 {
        queue.enqueue(job).await.unwrap();
        // The last ones find the queue idle and its clock asleep, off the beat.
        if job >= 2 {
            sleep(ms(333 + u64::from(job))).await;
        }
    }
    sleep(ms(1_000)).await;
    assert_eq!((queue.stats().timed_out, queue.stats().dead, queue.stats().done), (5, 5, 0));
    for (start, end) in starts.lock().iter().zip(drops.lock().iter()) {
        let took = *end - *start;
        assert!(took >= ms(100) && took <= ms(100) + Clock::TICK, "{took:?}");
    }
    assert_eq!((starts.lock().len(), drops.lock().len()), (5, 5));
    let letter = dead(&queue).await.remove(0);
    assert_eq!((letter.cause.reason, &*letter.cause.error), (Reason::AttemptsExhausted, "timeout"));
    drop(end(&queue).await);
}

/// E-54: whatever the limits of the jobs beside it are, and whenever they start.
#[tokio::test(start_paused = true)]
async fn each_of_many_limits_is_kept() {
    let ends = Arc::new(Mutex::new(Vec::new()));
    let notes = ends.clone();
    let handler = move |_: u64, cx: Context| {
        let (limit, notes) = (cx.times_out_at().unwrap(), notes.clone());
        async move {
            let _guard = scopeguard(move || notes.lock().push((limit, Instant::now())));
            std::future::pending::<()>().await;
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(50).retry(Retry::none()).start(handler).unwrap();
    for job in 0..50 {
        queue.job(job).timeout(ms(1 + (job * 37) % 211)).enqueue().await.unwrap();
        sleep(ms(job % 3)).await;
    }
    sleep(ms(1_000)).await;
    assert_eq!(queue.stats().timed_out, 50);
    for (limit, end) in ends.lock().iter() {
        assert!(*end >= *limit && *end - *limit <= Clock::TICK, "{:?} late", *end - *limit);
    }
}

/// Runs a closure when it is dropped.
fn scopeguard(run: impl FnOnce()) -> impl Drop {
    struct Run<F: FnOnce()>(Option<F>);
    impl<F: FnOnce()> Drop for Run<F> {
        fn drop(&mut self) {
            if let Some(run) = self.0.take() {
                run();
            }
        }
    }
    Run(Some(run))
}

/// E-54: a job without a limit is not ended by the limit of the job before it in its slot.
#[tokio::test(start_paused = true)]
async fn a_limit_is_of_its_own_job() {
    let handler = async |wait: u64| sleep(ms(wait)).await;
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(Retry::none()).start(handler).unwrap();
    for _ in 0..3 {
        queue.job(1_000).timeout(ms(100)).enqueue().await.unwrap();
        queue.enqueue(1_000).await.unwrap();
        queue.job(1_000).timeout(ms(1_001)).enqueue().await.unwrap();
    }
    queue.idle().await;
    let stats = end(&queue).await;
    assert_eq!((stats.stats().timed_out, stats.stats().ok), (3, 6));
}

/// E-55
#[tokio::test(start_paused = true)]
async fn ready_at_the_limit_is_done() {
    let plain = async |_: u32| sleep(ms(100)).await;
    let with_context = async |_: u32, _: Context| sleep(ms(100)).await;
    let builder = || Queue::with_worker(Ring::new()).slots(10).timeout(ms(100)).retry(Retry::none());
    for queue in [builder().start(plain).unwrap(), builder().start(with_context).unwrap()] {
        queue.enqueue_many(0..1_000).await.unwrap();
        let report = end(&queue).await;
        assert_eq!((report.stats().done, report.stats().timed_out), (1_000, 0));
    }
}

/// Ready at its time, and woken by nobody: only the timeout has it polled.
struct ReadyAt(Instant);

impl Future for ReadyAt {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> Poll<()> {
        if Instant::now() < self.0 { Poll::Pending } else { Poll::Ready(()) }
    }
}

/// E-55: the handler is asked before the timeout is believed.
#[tokio::test(start_paused = true)]
async fn ready_when_the_timeout_fires_is_done() {
    let builder = Queue::with_worker(Ring::new()).slots(10).timeout(ms(100)).retry(Retry::none());
    let queue = builder.start(|_: u32| ReadyAt(Instant::now() + ms(100))).unwrap();
    queue.enqueue_many(0..1_000).await.unwrap();
    let report = end(&queue).await;
    assert_eq!((report.stats().done, report.stats().timed_out), (1_000, 0));
}

/// E-56
#[tokio::test(start_paused = true)]
async fn each_attempt_has_the_whole_limit() {
    for inline in [false, true] {
        let retry = Retry::fixed(2, ms(5));
        let retry = if inline { retry.inline() } else { retry };
        let handler = async |_: u32, cx: Context| {
            sleep(ms(80)).await;
            if cx.attempt() < 3 { Err("again") } else { Ok(()) }
        };
        let queue = Queue::with_worker(Ring::new()).slots(1).timeout(ms(100)).retry(retry).start(handler).unwrap();
        queue.enqueue(1).await.unwrap();
        sleep(ms(1_000)).await;
        let stats = queue.stats();
        assert_eq!((stats.done, stats.failed, stats.timed_out), (1, 2, 0));
    }
}

/// A timeout is a failed attempt: the policy tries again.
#[tokio::test(start_paused = true)]
async fn a_timeout_is_retried() {
    let handler = async |_: u32, cx: Context| sleep(if cx.attempt() == 1 { ms(200) } else { ms(1) }).await;
    let builder = Queue::with_worker(Ring::new()).slots(1).timeout(ms(100)).retry(Retry::fixed(1, ms(1)));
    let queue = builder.start(handler).unwrap();
    queue.enqueue(1).await.unwrap();
    sleep(ms(1_000)).await;
    assert_eq!((queue.stats().timed_out, queue.stats().done), (1, 1));
}

/// E-59
#[tokio::test(start_paused = true)]
async fn a_job_past_its_deadline_never_starts() {
    let (gate, starts) = (Gate::new(), Arc::new(Mutex::new(Vec::new())));
    let (pass, notes) = (gate.clone(), starts.clone());
    let handler = move |job: u32| {
        notes.lock().push(job);
        let pass = pass.clone();
        async move { pass.pass().await }
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).deadline(ms(50)).start(handler).unwrap();
    queue.enqueue(1).await.unwrap();
    until(|| queue.stats().running == 1).await;
    queue.enqueue(2).await.unwrap();
    queue.job(3).deadline(ms(10)).enqueue().await.unwrap();
    queue.job(4).deadline(ms(1_000)).enqueue().await.unwrap();
    sleep(ms(60)).await;
    gate.open(2);
    let report = end(&queue).await;
    assert_eq!(*starts.lock(), [1, 4]);
    let stats = report.stats();
    assert_eq!((stats.done, stats.dead, stats.started, stats.failed), (2, 2, 2, 0));
    let letters = dead(&queue).await;
    assert!(letters.iter().all(|letter| letter.cause.reason == Reason::Deadline && letter.meta.attempt == 1));
}

/// E-60
#[tokio::test(start_paused = true)]
async fn no_timeout_is_none_and_the_context_shows_the_one_there_is() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    let handler = move |_: u32, cx: Context| {
        notes.lock().push(cx.times_out_at());
        sleep(ms(100 * 24 * 3_600_000))
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).start(handler).unwrap();
    queue.enqueue(1).await.unwrap();
    sleep(ms(101 * 24 * 3_600_000)).await;
    assert_eq!((queue.stats().done, queue.stats().timed_out), (1, 0));

    let now = Instant::now();
    queue.job(2).timeout(ms(100)).enqueue().await.unwrap();
    sleep(ms(1)).await;
    assert_eq!(*seen.lock(), [None, Some(now + ms(100))]);
    drop(queue.shutdown(ms(0)).await.unwrap());
}

/// E-61
#[tokio::test(start_paused = true)]
async fn seven_jobs_one_panics_one_overruns() {
    let handler = async |job: u32| {
        assert!(job != 2, "planned");
        sleep(if job == 4 { ms(101 + 5) } else { ms(99) }).await;
    };
    let builder = Queue::with_worker(Ring::new()).slots(3).timeout(ms(100)).retry(Retry::none());
    let queue = builder.start(handler).unwrap();
    queue.enqueue_many(0..7).await.unwrap();
    let report = end(&queue).await;
    let stats = report.stats();
    assert_eq!((stats.accepted, stats.done, stats.dead, stats.panicked, stats.timed_out), (7, 5, 2, 1, 1));
    let texts: Vec<_> = dead(&queue).await.into_iter().map(|letter| letter.cause.error).collect();
    assert_eq!(texts.iter().filter(|text| &***text == "timeout").count(), 1, "{texts:?}");
}
