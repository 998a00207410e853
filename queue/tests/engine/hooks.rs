//! What is told of an attempt that has ended.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::tokio;
use parking_lot::Mutex;
use queue::core::{Loss, WorkerError};
use queue::{AttemptEnd, Completion, Context, Error, Fate, Outcome, Queue, Reason, Retry, Ring};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::common::{Broker, Gate, LONG, alive, end, ms, settle_down, until};

/// What a hook was told, in order.
type Told = Arc<Mutex<Vec<Completion>>>;

fn tell(told: &Told) -> impl Fn(Completion) -> std::future::Ready<()> + Send + Sync + 'static {
    let told = told.clone();
    move |completion| {
        told.lock().push(completion);
        std::future::ready(())
    }
}

/// E-69
#[tokio::test(start_paused = true)]
async fn a_hook_holds_no_slot() {
    let second = Arc::new(Notify::new());
    let ran = second.clone();
    let builder = Queue::with_worker(Ring::new()).slots(1);
    let enqueuer = builder.enqueuer();
    let hook = move |completion: Completion| {
        let (enqueuer, second) = (enqueuer.clone(), second.clone());
        async move {
            if completion.attempt == 1 && enqueuer.enqueue(2).await.is_ok() {
                second.notified().await;
            }
        }
    };
    let handler = move |job: u32| {
        if job == 2 {
            ran.notify_one();
        }
        std::future::ready(())
    };
    let queue = builder.on_complete(hook).start(handler).unwrap();
    queue.enqueue(1).await.unwrap();
    let start = Instant::now();
    until(|| queue.stats().done >= 2 && queue.stats().hooks_waiting <= 1).await;
    assert_eq!(Instant::now(), start);
    drop(queue.shutdown(ms(10)).await.unwrap());
}

/// E-70
#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_for_a_hook() {
    let gate = Gate::new();
    let hooks = gate.clone();
    let hook = move |_: Completion| {
        let gate = hooks.clone();
        async move { gate.pass().await }
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).on_complete(hook).start(async |_: u32| ()).unwrap();
    queue.enqueue(1).await.unwrap();
    until(|| queue.stats().hooks_waiting == 1).await;
    let waits = tokio::spawn({
        let queue = queue.clone();
        async move { end(&queue).await }
    });
    settle_down().await;
    assert!(!waits.is_finished());
    gate.open(1);
    let report = waits.await.unwrap();
    assert_eq!((report.unfinished_hooks(), report.stats().done), (0, 1));
}

/// E-70
#[tokio::test(start_paused = true)]
async fn a_hook_that_never_returns_is_cut_and_told() {
    let before = alive();
    let dropped = Arc::new(AtomicUsize::new(0));
    let (count, held) = (Arc::new(AtomicUsize::new(0)), dropped.clone());
    let calls = count.clone();
    let hook = move |_: Completion| {
        calls.fetch_add(1, Ordering::Relaxed);
        let held = Dropped(held.clone());
        async move {
            std::future::pending::<()>().await;
            drop(held);
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(4).on_complete(hook).start(async |_: u32| ()).unwrap();
    for job in 0..5_000 {
        queue.enqueue(job).await.unwrap();
    }
    settle_down().await;
    until(|| queue.stats().done == 1_024).await;
    settle_down().await;
    // No more than 1,024 wait: for a second the jobs do, too. Then they go on, and further calls are left out.
    assert_eq!(queue.stats().done, 1_024);
    sleep(ms(1_001)).await;
    until(|| queue.stats().done == 5_000).await;
    let stats = queue.stats();
    assert_eq!((stats.hooks_waiting, stats.hooks_left_out), (1_024, 5_000 - 1_024));
    assert_eq!(count.load(Ordering::Relaxed), 1_024);
    let start = Instant::now();
    let report = queue.shutdown(ms(1_000)).await.unwrap();
    assert!(start.elapsed() >= ms(1_000) && start.elapsed() <= ms(2_000));
    assert!(report.is_complete());
    assert_eq!((report.unfinished_hooks(), report.stats().hooks_cut), (1_024, 1_024));
    assert_eq!(dropped.load(Ordering::Relaxed), 1_024);
    sleep(ms(10)).await;
    assert_eq!(alive(), before);
}

/// E-71: jobs go at the pace of a hook that is slower than they are.
#[tokio::test(start_paused = true)]
async fn no_call_of_a_slow_hook_is_left_out() {
    let told = Arc::new(AtomicUsize::new(0));
    let calls = told.clone();
    let hook = move |_: Completion| {
        let calls = calls.clone();
        async move {
            sleep(ms(10)).await;
            calls.fetch_add(1, Ordering::Relaxed);
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(4).on_complete(hook).start(async |_: u32| ()).unwrap();
    queue.enqueue_many(0..10_000).await.unwrap();
    let report = end(&queue).await;
    assert_eq!((told.load(Ordering::Relaxed), report.stats().hooks_left_out), (10_000, 0));
}

/// E-71: one that was stuck and goes on is waited for again.
#[tokio::test(start_paused = true)]
async fn a_hook_that_goes_on_is_waited_for_again() {
    let gate = Gate::new();
    let hooks = gate.clone();
    let hook = move |_: Completion| {
        let gate = hooks.clone();
        async move { gate.pass().await }
    };
    let queue = Queue::with_worker(Ring::new()).slots(4).on_complete(hook).start(async |_: u32| ()).unwrap();
    queue.enqueue_many(0..1_100).await.unwrap();
    until(|| queue.stats().hooks_waiting == 1_024).await;
    sleep(ms(1_001)).await;
    until(|| queue.stats().done == 1_100).await;
    gate.open(1_024);
    until(|| queue.stats().hooks_waiting == 0).await;
    queue.enqueue_many(0..2_000).await.unwrap();
    until(|| queue.stats().hooks_waiting == 1_024).await;
    settle_down().await;
    let stats = queue.stats();
    assert_eq!((stats.done, stats.hooks_left_out), (1_100 + 1_024, 1_100 - 1_024));
    gate.open(2_000);
    let report = end(&queue).await;
    assert_eq!((report.stats().done, report.stats().hooks_left_out), (3_100, 1_100 - 1_024));
}

/// A shutdown does not wait for the room that a hook takes.
#[tokio::test(start_paused = true)]
async fn a_full_hook_holds_no_shutdown_up() {
    let hook = async |_: Completion| std::future::pending::<()>().await;
    let queue = Queue::with_worker(Ring::new()).slots(4).on_complete(hook).start(async |_: u32| ()).unwrap();
    queue.enqueue_many(0..2_000).await.unwrap();
    until(|| queue.stats().hooks_waiting == 1_024).await;
    let start = Instant::now();
    let report = queue.shutdown(ms(500)).await.unwrap();
    assert!(report.is_complete() && start.elapsed() <= ms(1_500));
    let stats = report.stats();
    assert_eq!((stats.done, stats.returned, stats.accepted), (1_024, 976, 2_000));
}

/// Nor does a resize.
#[tokio::test(start_paused = true)]
async fn a_full_hook_holds_no_resize_up() {
    let hook = async |_: Completion| std::future::pending::<()>().await;
    let queue = Queue::with_worker(Ring::new()).slots(4).on_complete(hook).start(async |_: u32| ()).unwrap();
    queue.enqueue_many(0..2_000).await.unwrap();
    until(|| queue.stats().hooks_waiting == 1_024).await;
    // Every slot has come to wait for room.
    settle_down().await;
    let start = Instant::now();
    queue.resize(0).await.unwrap();
    assert_eq!((start.elapsed(), queue.stats().slots), (ms(0), 0));
    assert_eq!(queue.shutdown(ms(0)).await.unwrap().stats().returned, 976);
}

struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// E-71
#[tokio::test(start_paused = true)]
async fn each_attempt_is_told_once_with_its_end() {
    let told = Told::default();
    let handler = async |job: &'static str, cx: Context| -> Outcome {
        sleep(ms(30)).await;
        match job {
            "fails twice" if cx.attempt() < 3 => Outcome::failed(Error::new("no")),
            "permanent" => Outcome::failed(Error::permanent("never")),
            "panics" => panic!("planned: no"),
            "overruns" | "waits" => std::future::pending().await,
            "snoozes" if !cx.header("later").is_none_or(<[u8]>::is_empty) => Outcome::done(),
            "snoozes" => Outcome::snooze(LONG),
            _ => Outcome::done(),
        }
    };
    let queue = Queue::with_worker(Ring::new())
        .name("all ends")
        .slots(8)
        .retry(Retry::fixed(2, ms(5)).dead_on_panic())
        .on_complete(tell(&told))
        .start(handler)
        .unwrap();
    let mut ids = HashMap::new();
    for job in ["ok", "fails twice", "permanent", "panics", "snoozes", "waits"] {
        ids.insert(job, queue.enqueue(job).await.unwrap());
    }
    ids.insert("overruns", queue.job("overruns").timeout(ms(100)).retries(0).enqueue().await.unwrap());
    sleep(ms(1_000)).await;
    drop(queue.shutdown(ms(0)).await.unwrap());
    let told = told.lock();
    let of = |job: &str| told.iter().filter(|told| told.id == ids[job]).cloned().collect::<Vec<_>>();
    let ends = |job: &str| of(job).iter().map(|told| (told.attempt, told.end, told.fate)).collect::<Vec<_>>();
    let exhausted = Fate::Dead(Reason::AttemptsExhausted);
    assert_eq!(ends("ok"), [(1, AttemptEnd::Ok, Fate::Done)]);
    let retried = |attempt| (attempt, AttemptEnd::Failed, Fate::Retried);
    assert_eq!(ends("fails twice"), [retried(1), retried(2), (3, AttemptEnd::Ok, Fate::Done)]);
    assert_eq!(ends("permanent"), [(1, AttemptEnd::Failed, Fate::Dead(Reason::Permanent))]);
    assert_eq!(ends("panics"), [(1, AttemptEnd::Panicked, Fate::Dead(Reason::Panicked))]);
    assert_eq!(ends("overruns"), [(1, AttemptEnd::TimedOut, exhausted)]);
    assert_eq!(ends("waits"), [(1, AttemptEnd::Cancelled, Fate::Returned)]);
    assert_eq!(ends("snoozes"), [(1, AttemptEnd::Cancelled, Fate::Returned)]);
    assert_eq!(told.len(), 9);
    assert!(told.iter().all(|told| &*told.queue == "all ends"));
    let error = |job: &str| of(job).iter().map(|told| told.error.to_string()).collect::<Vec<_>>();
    assert_eq!(error("fails twice"), ["no", "no", ""]);
    assert_eq!(
        (error("permanent"), error("panics")),
        (vec!["never".to_owned()], vec!["panicked: planned: no".to_owned()])
    );
    assert_eq!(of("ok")[0].duration, ms(30));
    assert!(of("overruns")[0].duration >= ms(100) && of("overruns")[0].duration <= ms(105));
}

/// E-71: on a worker that settles by I/O, after the verdict is carried out; a job that somebody else took is told as lost.
#[tokio::test(start_paused = true)]
async fn a_hook_comes_after_the_verdict() {
    let (broker, told) = (Broker::new(), Told::default());
    broker.fail_next_settle(WorkerError::retry("once"));
    let (seen, verdicts) = (broker.clone(), told.clone());
    let hook = move |completion: Completion| {
        if completion.fate == Fate::Done {
            assert_eq!(seen.verdicts().len(), 1);
        }
        verdicts.lock().push(completion);
        std::future::ready(())
    };
    let handler = async |job: String| {
        if job == "waits" {
            std::future::pending().await
        }
    };
    let queue = Queue::with_worker(broker.clone()).slots(2).on_complete(hook).start(handler).unwrap();
    let id = queue.enqueue("waits".to_owned()).await.unwrap();
    until(|| queue.stats().running == 1).await;
    queue.enqueue("ends".to_owned()).await.unwrap();
    sleep(ms(1_000)).await;
    broker.lose(id, Loss::LeaseExpired);
    until(|| told.lock().len() == 2).await;
    let ends: Vec<_> = told.lock().iter().map(|told| (told.end, told.fate)).collect();
    assert_eq!(ends, [(AttemptEnd::Ok, Fate::Done), (AttemptEnd::Cancelled, Fate::Lost)]);
    assert_eq!(queue.stats().hooks_panicked, 0);
    drop(end(&queue).await);
}

/// E-72, E-63: whether it panics before it waits, in its first poll or in a later one, or in its drop.
#[tokio::test(start_paused = true)]
async fn a_panicking_hook_is_counted_and_later_ones_run() {
    struct Bomb(bool);
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(!self.0, "planned: the drop of a hook panics");
        }
    }
    let turn = Arc::new(AtomicUsize::new(0));
    let hook = move |_: Completion| {
        let turn = turn.fetch_add(1, Ordering::Relaxed);
        assert!(turn != 0, "planned: the hook panics");
        async move {
            assert!(turn != 1, "planned: its first poll panics");
            let _bomb = Bomb(turn == 3);
            sleep(ms(1)).await;
            assert!(turn != 2, "planned: a later poll panics");
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).on_complete(hook).start(async |_: u32| ()).unwrap();
    for job in 0..6 {
        queue.enqueue(job).await.unwrap();
    }
    sleep(ms(10)).await;
    let stats = queue.stats();
    assert_eq!((stats.done, stats.hooks_panicked, stats.hooks_waiting), (6, 4, 0));
    assert_eq!(end(&queue).await.unfinished_hooks(), 0);
}

/// E-73
#[tokio::test(start_paused = true)]
async fn a_hook_costs_a_task_only_while_it_waits() {
    let waits = Arc::new(AtomicBool::new(false));
    let flag = waits.clone();
    let hook = move |_: Completion| {
        let waits = flag.load(Ordering::Relaxed);
        async move {
            if waits {
                std::future::pending::<()>().await;
            }
        }
    };
    for hooked in [false, true] {
        let builder = Queue::with_worker(Ring::new()).slots(2);
        let builder = if hooked { builder.on_complete(hook.clone()) } else { builder };
        let queue = builder.start(async |_: u32| ()).unwrap();
        settle_down().await;
        let before = alive();
        for job in 0..100 {
            queue.enqueue(job).await.unwrap();
        }
        until(|| queue.stats().done == 100).await;
        assert_eq!(alive(), before);
        waits.store(hooked, Ordering::Relaxed);
        for job in 0..100 {
            queue.enqueue(job).await.unwrap();
        }
        until(|| queue.stats().done == 200).await;
        assert_eq!(alive(), before + if hooked { 100 } else { 0 });
        drop(queue.shutdown(ms(0)).await.unwrap());
    }
}
