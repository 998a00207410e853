//! A clock that jumps by two months: what was due is done, once, and what was not yet due still waits.

use std::sync::Arc;
use std::time::Duration;

use crate::tokio;
use parking_lot::Mutex;
use queue::core::Clock;
use queue::{Context, Inspects, Queue, Reason, Retry, Ring};
use tokio::time::{Instant, advance, sleep};

use crate::common::{Gate, LONG, dead, end, ms, settle_down, until};

const fn days(days: u64) -> Duration {
    Duration::from_secs(days * 24 * 3_600)
}

/// Jobs, attempts, and when they started.
type Starts = Arc<Mutex<Vec<(&'static str, u32, Instant)>>>;

async fn noted(job: &'static str, cx: Context<Starts>) -> Result<(), &'static str> {
    cx.state().lock().push((job, cx.attempt(), Instant::now()));
    match job {
        "long" => sleep(days(70)).await,
        "endless" => std::future::pending().await,
        "fails once" if cx.attempt() == 1 => return Err("once"),
        _ => {}
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_was_due_in_a_jump_is_done_once_and_the_rest_on_time() {
    for inline in [false, true] {
        let retry = Retry::fixed(1, days(10));
        let retry = if inline { retry.inline() } else { retry };
        let starts = Starts::default();
        let queue = Queue::with_worker(Ring::new()).slots(4).retry(retry).state(starts.clone()).start(noted).unwrap();
        let start = Instant::now();
        queue.job("long").timeout(days(80)).enqueue().await.unwrap();
        queue.job("endless").timeout(days(1)).retries(0).enqueue().await.unwrap();
        queue.enqueue("fails once").await.unwrap();
        queue.job("passed").delay(days(30)).enqueue().await.unwrap();
        queue.job("too late").delay(days(30)).deadline(days(20)).enqueue().await.unwrap();
        queue.job("to come").delay(days(90)).deadline(days(91)).enqueue().await.unwrap();
        settle_down().await;
        assert_eq!(
            (queue.stats().started, queue.stats().failed, queue.stats().waiting),
            (3, 1, 3 + u64::from(!inline))
        );

        advance(days(60)).await;
        let now = Instant::now();
        until(|| queue.stats().done == 2 && queue.stats().dead == 2).await;
        assert_eq!(Instant::now(), now);
        let stats = queue.stats();
        assert_eq!((stats.timed_out, stats.running, stats.waiting, stats.queued), (1, 1, 1, 0), "{stats:?}");
        let mut ran = starts.lock()[3..].to_vec();
        ran.sort_unstable();
        assert_eq!(ran, [("fails once", 2, now), ("passed", 1, now)]);
        let reasons = dead(&queue).await.into_iter().map(|letter| letter.cause.reason);
        let mut reasons: Vec<_> = reasons.map(|reason| reason == Reason::Deadline).collect();
        reasons.sort_unstable();
        assert_eq!(reasons, [false, true]);

        sleep(start + days(70) - now).await;
        until(|| queue.stats().done == 3).await;
        sleep(start + days(90) - ms(1) - Instant::now()).await;
        assert_eq!((queue.stats().done, queue.stats().waiting), (3, 1));
        sleep(ms(1)).await;
        until(|| queue.stats().done == 4).await;
        assert_eq!(starts.lock()[5], ("to come", 1, start + days(90)));
        let stats = *end(&queue).await.stats();
        assert_eq!((stats.accepted, stats.done, stats.dead, stats.started), (6, 4, 2, 6));
    }
}

/// A job shows its age, to a tick; beyond 49 days a smaller one, and never one from the future.
#[tokio::test(start_paused = true)]
async fn ages_stay_sane() {
    let enqueued = Arc::new(Mutex::new(Vec::new()));
    let note = async |_: u32, cx: Context<Arc<Mutex<Vec<Instant>>>>| cx.state().lock().push(cx.enqueued_at());
    let queue = Queue::with_worker(Ring::new()).slots(0).state(enqueued.clone()).start(note).unwrap();
    let oldest = async || queue.worker().inspect().await.unwrap().oldest;
    let start = Instant::now();
    queue.enqueue(1).await.unwrap();
    for jump in [20, 20] {
        advance(days(jump)).await;
        assert_eq!(oldest().await, Some(start.elapsed()));
    }
    advance(days(60)).await;
    let shown = oldest().await.unwrap();
    assert!(shown <= start.elapsed(), "{shown:?}");
    // A new job is new, whatever the clock did before.
    settle_down().await;
    let now = Instant::now();
    queue.resize(1).await.unwrap();
    until(|| queue.stats().done == 1).await;
    queue.enqueue(2).await.unwrap();
    until(|| queue.stats().done == 2).await;
    let enqueued = enqueued.lock();
    assert!(enqueued[0] >= start && enqueued[0] <= now, "{:?}", enqueued[0]);
    assert!(enqueued[1] <= now && now - enqueued[1] <= Clock::TICK, "{:?}", now - enqueued[1]);
}

/// While the queue is busy, so that its coarse clock stands: after a turn of the runtime it is right again.
#[tokio::test(start_paused = true)]
async fn a_busy_clock_follows_a_jump() {
    let gate = Gate::new();
    let enqueued = Arc::new(Mutex::new(Vec::new()));
    let handler = async |_: u32, cx: Context<(Gate, Arc<Mutex<Vec<Instant>>>)>| {
        cx.state().1.lock().push(cx.enqueued_at());
        cx.state().0.pass().await;
    };
    let builder = Queue::with_worker(Ring::new()).slots(2).deadline(LONG).state((gate.clone(), enqueued.clone()));
    let queue = builder.start(handler).unwrap();
    queue.enqueue(1).await.unwrap();
    until(|| queue.stats().running == 1).await;
    advance(days(60)).await;
    settle_down().await;
    let now = Instant::now();
    queue.enqueue(2).await.unwrap();
    until(|| queue.stats().running == 2).await;
    assert!(now - enqueued.lock()[1] <= Clock::TICK);
    gate.open(2);
    assert_eq!(end(&queue).await.stats().done, 2);
}

/// The end of a shutdown comes within a jump: what runs is cancelled, and every job is accounted for.
#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_in_a_jump() {
    let queue = Queue::with_worker(Ring::new()).slots(2).state(Starts::default()).start(noted).unwrap();
    queue.enqueue_many(["endless", "endless", "never started"]).await.unwrap();
    queue.job("to come").delay(days(90)).enqueue().await.unwrap();
    until(|| queue.stats().running == 2).await;
    let jump = async {
        settle_down().await;
        advance(days(60)).await;
        Instant::now()
    };
    let (early, now) = tokio::join!(queue.shutdown(LONG), jump);
    assert_eq!(Instant::now(), now);
    // The time of that call is long over: it answered at once, with what there was to say.
    assert_eq!(early.unwrap().stats().accepted, 4);
    let report = queue.shutdown(Duration::ZERO).await.unwrap();
    assert_eq!((report.stats().cut_short, report.stats().returned, report.unrun()), (2, 4, 4));
    assert_eq!((report.stats().started, report.is_complete(), Instant::now()), (2, true, now));
}
