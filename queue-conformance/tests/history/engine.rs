//! The real engine over the ring, recorded.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use queue::{Cancels, Context, DeadLetters, Error, Inspects, JobId, Outcome, Page, Queue, Retry, Ring, Worker};
use queue_conformance::history::{Claims, Kind, Order, Place, Recorded, Recorder};

const SHORT: Duration = Duration::from_secs(30);

/// Every way in which an attempt can end, by the job's number.
async fn work(job: u64, cx: Context) -> Outcome {
    match job % 10 {
        1 if cx.attempt() < 3 => Outcome::failed(Error::new("not yet")),
        2 if cx.attempt() == 1 => panic!("a planted panic"),
        3 => Outcome::failed(Error::permanent("never")),
        4 if cx.attempt() == 1 => Outcome::retry_after(Duration::from_millis(20)),
        5 => {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Outcome::done()
        }
        6 if cx.attempt() == 1 => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            Outcome::done()
        }
        7 => {
            tokio::task::yield_now().await;
            Outcome::done()
        }
        8 => Outcome::failed(Error::new("always")),
        _ => Outcome::done(),
    }
}

/// F-18: a run of the real engine with retries, panics, timeouts, snoozes, dead letters, delays, priorities, replays and cancels holds.
#[tokio::test(start_paused = true)]
async fn a_recorded_run_of_the_engine_holds() {
    let recorder = Recorder::in_memory(Claims::new().order(Order::Queue).duplicates(0));
    let ring = Recorded::new(Ring::new(), &recorder);
    let snoozed = Arc::new(AtomicU64::new(0));
    let handler = {
        let snoozed = snoozed.clone();
        move |job: u64, cx: Context| {
            let snoozed = snoozed.clone();
            async move {
                if job % 10 == 9 && snoozed.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
                    return Outcome::snooze(Duration::from_millis(30));
                }
                work(job, cx).await
            }
        }
    };
    let queue = Queue::with_worker(ring)
        .slots(4)
        .retry(Retry::exponential(3).base(Duration::from_millis(10)))
        .timeout(Duration::from_secs(1))
        .start(recorder.handler(handler))
        .unwrap();
    for job in 0..1_000 {
        queue.enqueue(job).await.unwrap();
    }
    let enqueuer = queue.enqueuer();
    enqueuer.enqueue_many(1_000..1_500).await.unwrap();
    for job in 1_500..1_600 {
        queue.job(job).delay(Duration::from_millis(job % 50)).priority((job % 3) as u8).enqueue().await.unwrap();
    }
    let id = queue.job(7).delay(Duration::from_secs(1_000)).enqueue().await.unwrap();
    assert!(queue.worker().cancel(id).await.unwrap().is_some());
    queue.idle().await;
    let dead = queue.worker().dead_letters(Page::first(10)).await.unwrap();
    for letter in &dead {
        assert!(queue.worker().replay(letter.meta.id).await.unwrap());
    }
    assert!(!queue.worker().replay(JobId::from(1)).await.unwrap_or(true));
    queue.idle().await;
    drop(queue.shutdown(SHORT).await.unwrap());
    recorder.close().unwrap();

    let report = recorder.check().unwrap();
    assert!(report.holds(), "{report}");
    let counts = *report.counts();
    assert_eq!((counts.confirmed, counts.cancelled, counts.replayed), (1_601, 1, 10));
    assert_eq!((counts.duplicates, counts.unexplained, counts.lost, counts.gave_up), (0, 0, 0, 0));
    assert!(counts.dead >= 320 && counts.retried > 500 && counts.returned > 80, "{report}");
    assert_eq!(counts.acked + counts.dead - counts.replayed + counts.cancelled, 1_601);
}

/// F-18: an engine on several threads that is shut down with much left holds, and all that is left is accounted for.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_shutdown_with_leftovers_holds() {
    let recorder = Recorder::in_memory(Claims::new().order(Order::Queue).duplicates(0));
    let queue = Queue::with_worker(Recorded::new(Ring::builder().capacity(4_096).build().unwrap(), &recorder))
        .slots(8)
        .retry(Retry::exponential(2).base(Duration::from_millis(1)))
        .start(recorder.handler(async |job: u64, _: Context| {
            if job.is_multiple_of(5) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            if job.is_multiple_of(7) { Err("again") } else { Ok(()) }
        }))
        .unwrap();
    let producers: Vec<_> = (0..4)
        .map(|producer| {
            let enqueuer = queue.enqueuer();
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
                runtime.block_on(async {
                    for job in 0..1_000 {
                        drop(enqueuer.enqueue(producer * 1_000 + job).await);
                    }
                });
            })
        })
        .collect();
    let ended = tokio::task::spawn_blocking(|| producers.into_iter().for_each(|producer| producer.join().unwrap()));
    tokio::time::timeout(SHORT, ended).await.unwrap().unwrap();
    for job in 0..50 {
        queue.job(job).delay(SHORT * 10).enqueue().await.unwrap();
    }
    drop(queue.shutdown(Duration::from_millis(20)).await.unwrap());
    recorder.close().unwrap();
    let report = recorder.check().unwrap();
    assert!(report.holds(), "{report}");
    assert!(report.counts().left >= 50, "{report}");
}

/// F-18: the same through the object-safe twin: facets, receipts and acks reach the log.
#[tokio::test(start_paused = true)]
async fn the_twin_of_a_recorded_worker_holds() {
    let recorder = Recorder::in_memory(Claims::new().duplicates(0));
    let worker = Recorded::new(Ring::new(), &recorder).boxed();
    let queue = Queue::with_worker(worker)
        .slots(2)
        .retry(Retry::exponential(1).base(Duration::from_millis(1)))
        .start(recorder.handler(async |job: u64, _: Context| if job.is_multiple_of(4) { Err("no") } else { Ok(()) }))
        .unwrap();
    for job in 0..100 {
        queue.enqueue(job).await.unwrap();
    }
    let id = queue.job(1).delay(Duration::from_secs(1_000)).enqueue().await.unwrap();
    assert!(queue.worker().cancel(id).await.unwrap().is_some());
    queue.idle().await;
    let dead = queue.worker().dead_letters(Page::first(2)).await.unwrap();
    assert!(queue.worker().replay(dead[0].meta.id).await.unwrap());
    assert!(queue.worker().discard(dead[1].meta.id).await.unwrap());
    queue.idle().await;
    assert_eq!(queue.worker().inspect().await.unwrap().dead, 24);
    drop(queue.shutdown(SHORT).await.unwrap());
    let report = recorder.check().unwrap();
    assert!(report.holds(), "{report}");
    let counts = report.counts();
    assert_eq!((counts.acked, counts.dead, counts.replayed, counts.cancelled), (75, 26, 1, 1), "{report}");
}

/// F-18: jobs that are moved into their handler are gone where they end badly, and accounted for.
#[tokio::test(start_paused = true)]
async fn a_run_that_keeps_no_copies_holds() {
    let recorder = Recorder::in_memory(Claims::new().order(Order::Queue).duplicates(0));
    let queue = Queue::with_worker(Recorded::new(Ring::once(), &recorder))
        .slots(2)
        .start(recorder.handler(async |job: u64, _: Context| {
            if job == 0 {
                tokio::time::sleep(SHORT * 10).await;
            }
        }))
        .unwrap();
    for job in 0..100 {
        queue.enqueue(job).await.unwrap();
    }
    drop(queue.shutdown(Duration::from_millis(50)).await.unwrap());
    let report = recorder.check().unwrap();
    assert!(report.holds(), "{report}");
    assert_eq!((report.counts().gone, report.counts().acked), (1, 99), "{report}");
}

/// A recorded worker can be asked directly.
#[tokio::test]
async fn what_an_inventory_lists_is_accounted_for() {
    let recorder = Recorder::in_memory(Claims::new());
    let ring = Recorded::new(Ring::new(), &recorder);
    let id = ring.try_one(5_u64).unwrap();
    assert!(!recorder.check().unwrap().holds());
    recorder.left(id, Place::Waiting);
    assert!(recorder.check().unwrap().holds());
    assert!(Cancels::cancel(&ring, JobId::from(0)).await.unwrap().is_none());
    assert!(DeadLetters::dead_letters(&ring, Page::first(1)).await.unwrap().is_empty());
}

/// F-18: a delivery that is dropped without a verdict is noted, and what a worker leaves with its caller stays open.
#[tokio::test]
async fn a_dropped_delivery_is_noted() {
    let recorder = Recorder::in_memory(Claims::new());
    let ring = Recorded::new(Ring::new(), &recorder);
    ring.try_one(5_u64).unwrap();
    let mut taken = VecDeque::new();
    ring.request(1, &mut taken).await.unwrap();
    ring.give_back(&mut taken);
    assert!(taken.is_empty());
    ring.request(1, &mut taken).await.unwrap();
    drop(taken);
    let report = recorder.check().unwrap();
    let counts = report.counts();
    assert_eq!((counts.delivered, counts.returned, counts.gave_up, report.count(Kind::Lost)), (2, 1, 1, 1), "{report}");
}
