//! Start: one engine, slots that are reused, settings that make no sense, and the quiet of an idle queue.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::tokio;
use parking_lot::Mutex;
use queue::{Backoff, Inspects, Queue, Retry, Ring, StartError};
use tokio::runtime::Handle;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::{Instant, sleep};

use crate::common::{Gate, LONG, Spy, end, ms, settle_down, until};

/// E-1: the builder is gone once it has started, so what eight users share is the one queue.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_users_of_one_queue_share_one_engine() {
    let runs = Arc::new(Mutex::new(Vec::new()));
    let seen = runs.clone();
    let handler = move |job: u32| {
        seen.lock().push(job);
        async {}
    };
    let queue = Queue::with_worker(Ring::new()).slots(4).start(handler).unwrap();
    let users: Vec<_> = (0..8)
        .map(|user| {
            let queue = queue.clone();
            tokio::spawn(async move {
                for job in 0..8 {
                    queue.enqueue(user * 8 + job).await.unwrap();
                }
                assert_eq!(queue.stats().slots, 4);
            })
        })
        .collect();
    for user in users {
        user.await.unwrap();
    }
    assert_eq!(end(&queue).await.stats().done, 64);
    let mut runs = runs.lock().clone();
    runs.sort_unstable();
    assert_eq!(runs, (0..64).collect::<Vec<_>>());
}

/// E-2
#[tokio::test(start_paused = true)]
async fn ten_thousand_jobs_spawn_no_task() {
    let ids = Arc::new(Mutex::new(HashSet::new()));
    let most = Arc::new(AtomicUsize::new(0));
    let (seen, peak) = (ids.clone(), most.clone());
    let handler = move |job: u32| {
        seen.lock().insert(tokio::task::id());
        peak.fetch_max(Handle::current().metrics().num_alive_tasks(), Ordering::Relaxed);
        // Some jobs never wait, some do.
        async move {
            if job.is_multiple_of(3) {
                sleep(ms(1)).await;
            }
            if job.is_multiple_of(7) { Err("fails once in a while") } else { Ok(()) }
        }
    };
    let settings = Queue::with_worker(Ring::new()).slots(4).timeout(LONG).retry(Retry::fixed(1, ms(1)));
    let queue = settings.start(handler).unwrap();
    settle_down().await;
    let before = Handle::current().metrics().num_alive_tasks();
    for job in 0..10_000 {
        queue.enqueue(job).await.unwrap();
    }
    while queue.stats().done + queue.stats().dead < 10_000 {
        sleep(ms(100)).await;
    }
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
    assert_eq!(most.load(Ordering::Relaxed), before);
    assert_eq!(ids.lock().len(), 4);
    drop(end(&queue).await);
}

/// E-3
#[tokio::test(start_paused = true)]
async fn jobs_from_before_the_start_run_in_order() {
    let (ran, mut order) = unbounded_channel();
    let builder = Queue::with_worker(Ring::new()).slots(1);
    let enqueuer = builder.enqueuer();
    enqueuer.enqueue("first").await.unwrap();
    enqueuer.enqueue("second").await.unwrap();
    let handler = move |job| {
        ran.send(job).unwrap();
        async {}
    };
    let queue = builder.start(handler).unwrap();
    assert_eq!(order.recv().await, Some("first"));
    assert_eq!(order.recv().await, Some("second"));
    assert_eq!(end(&queue).await.stats().done, 2);
}

/// E-4
#[tokio::test(start_paused = true)]
async fn settings_that_make_no_sense_are_named_and_spawn_nothing() {
    let builder = || Queue::with_worker(Ring::<u32>::new()).slots(3);
    let start = |builder: queue::Builder<Ring<u32>>| builder.start(async |_: u32| ()).unwrap_err();
    let before = Handle::current().metrics().num_alive_tasks();

    assert!(matches!(start(builder().timeout(Duration::ZERO)), StartError::TimeoutZero));
    assert!(matches!(start(builder().deadline(Duration::ZERO)), StartError::DeadlineZero));
    for factor in [0.99, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = start(builder().retry(Retry::exponential(1).factor(factor)));
        assert!(matches!(error, StartError::Backoff(_)), "factor {factor}: {error}");
    }
    let error = start(builder().retry(Retry::exponential(1).base(ms(11)).max(ms(10))));
    assert!(matches!(error, StartError::Backoff(_)), "{error}");
    let backoff = Backoff::fixed(ms(5)).base(ms(6));
    let error = builder().retry(Retry::with_backoff(1, backoff)).producer().unwrap_err();
    assert!(matches!(error, StartError::Backoff(_)), "{error}");

    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
}

/// E-5
#[tokio::test(start_paused = true)]
async fn no_slots_is_a_pause_and_unsaid_is_the_parallelism() {
    let paused = Queue::with_worker(Ring::new()).slots(0).start(async |_: u32| ()).unwrap();
    paused.enqueue(1).await.unwrap();
    sleep(LONG).await;
    assert_eq!((paused.slots(), paused.stats().started, paused.stats().queued), (0, 0, 1));

    let cores = std::thread::available_parallelism().unwrap().get();
    let unsaid = Queue::with_worker(Ring::new()).start(async |_: u32| ()).unwrap();
    assert!(cores >= 1);
    assert_eq!((unsaid.slots(), unsaid.stats().slots), (cores, cores as u64));
    drop(end(&unsaid).await);
}

/// E-6
#[tokio::test(start_paused = true)]
async fn a_producer_never_requests() {
    let spy = Spy::new(Ring::new());
    let calls = spy.calls.clone();
    let queue = Queue::with_worker(spy).producer().unwrap();
    for job in 0..10_u32 {
        queue.enqueue(job).await.unwrap();
    }
    sleep(LONG).await;
    assert_eq!(queue.worker().inner().inspect().await.unwrap().ready, 10);
    assert_eq!(calls.requests(), 0);
    let report = end(&queue).await;
    assert_eq!((report.unrun(), calls.requests()), (10, 0));
}

/// E-7
#[test]
fn eight_idle_slots_do_nothing_for_an_hour() {
    let parks = Arc::new(AtomicUsize::new(0));
    let counter = parks.clone();
    let runtime = ::tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .on_thread_park(move || {
            counter.fetch_add(1, Ordering::Relaxed);
        })
        .build()
        .unwrap();
    runtime.block_on(async {
        let spy = Spy::new(Ring::new());
        let calls = spy.calls.clone();
        let queue = Queue::with_worker(spy).slots(8).start(async |_: u32| ()).unwrap();
        queue.enqueue(1).await.unwrap();
        // The busy clock ticks out.
        sleep(Duration::from_secs(1)).await;
        let before = (calls.all(), calls.request_polls(), parks.load(Ordering::Relaxed));
        sleep(LONG).await;
        assert_eq!((calls.all(), calls.request_polls()), (before.0, before.1));
        // The thread parks a few times for the hour itself, since the timers' wheel has levels; a tick would be 720,000.
        let parked = parks.load(Ordering::Relaxed) - before.2;
        assert!(parked <= 16, "{parked}");
        drop(end(&queue).await);
    });
}

/// E-8
#[tokio::test(start_paused = true)]
async fn an_idle_queue_starts_each_job_at_once() {
    let (started, mut starts) = unbounded_channel();
    let handler = move |job: u32| {
        started.send((job, Instant::now())).unwrap();
        async {}
    };
    let queue = Queue::with_worker(Ring::new()).slots(4).start(handler).unwrap();
    for job in 0..200 {
        // Idle: whatever ticks while the queue is busy has ended.
        sleep(Duration::from_secs(1)).await;
        let now = Instant::now();
        queue.enqueue(job).await.unwrap();
        assert_eq!(starts.recv().await, Some((job, now)));
    }
}

/// E-8: the same while other slots are taken.
#[tokio::test(start_paused = true)]
async fn the_last_free_slot_starts_a_job_at_once() {
    let gate = Gate::new();
    let pass = gate.clone();
    let queue = Queue::with_worker(Ring::new())
        .slots(3)
        .start(move |_: u32| {
            let pass = pass.clone();
            async move { pass.pass().await }
        })
        .unwrap();
    sleep(Duration::from_secs(1)).await;
    let now = Instant::now();
    for running in 1..=3 {
        queue.enqueue(running).await.unwrap();
        until(|| queue.stats().running == u64::from(running)).await;
    }
    assert_eq!(Instant::now(), now);
    gate.open(3);
    assert_eq!(end(&queue).await.stats().done, 3);
}
