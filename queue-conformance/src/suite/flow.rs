//! Many jobs, many consumers: each job once, and none lost on the way.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use queue::{Context, Enqueuer, Queue, Retry};
use queue_core::{Demand, Feature, JobId, Verdict, Worker};
use tokio::time::timeout;

use super::probe::Probe;
use super::stage::{Alone, Stage, outlives};
use super::{Check, Stop, ensure};
use crate::{Backend, Job};

fn failed(error: impl std::fmt::Display) -> Stop {
    Stop::Failed(error.to_string())
}

/// Waits until a second consumer has begun, or for long enough.
async fn meet(begun: &AtomicUsize) {
    begun.fetch_add(1, Ordering::SeqCst);
    for _ in 0..300 {
        if begun.load(Ordering::SeqCst) == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// C-15: two consumers share 100 jobs: each job once in all, and both get some.
pub(crate) async fn c_15<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (first, name) = stage.fresh().await?;
    stage.outlives(&first)?;
    let second = stage.connect(&name).await?;
    stage.publish_many(&first, 0..100).await?;
    let ran: Arc<[Mutex<Vec<u64>>; 2]> = Arc::default();
    // Each consumer waits in its first job until the other has one, or for long enough.
    let begun = Arc::new(AtomicUsize::new(0));
    let mut queues = Vec::new();
    for (at, worker) in [first, second].into_iter().enumerate() {
        let (ran, begun) = (ran.clone(), begun.clone());
        let waited = Arc::new(AtomicBool::new(false));
        let handler = move |job: Job| {
            let (ran, begun, first) = (ran.clone(), begun.clone(), !waited.swap(true, Ordering::SeqCst));
            async move {
                if first {
                    meet(&begun).await;
                }
                ran[at].lock().push(job.number);
            }
        };
        queues.push(Queue::with_worker(Probe::new(worker).0).slots(1).start(handler).map_err(failed)?);
    }
    let done = || queues.iter().map(|queue| queue.stats().done).sum::<u64>();
    stage.until("100 jobs are done", || done() >= 100).await?;
    stage.pass(Duration::from_secs(1)).await;
    let mut all: Vec<u64> = ran.iter().flat_map(|ran| ran.lock().clone()).collect();
    all.sort_unstable();
    ensure!(all == (0..100).collect::<Vec<u64>>(), "100 jobs ran {} times in all", all.len());
    let shares = [ran[0].lock().len(), ran[1].lock().len()];
    ensure!(shares.iter().all(|share| *share > 0), "two consumers waited for 100 jobs, and got {shares:?}");
    Ok(())
}

/// C-16: what was published before there was any consumer is delivered.
pub(crate) async fn c_16<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (producer, name) = stage.fresh().await?;
    stage.outlives(&producer)?;
    stage.publish_many(&producer, 0..3).await?;
    stage.shutdown(&producer).await?;
    drop(producer);
    let consumer = stage.connect(&name).await?;
    let came = stage.drain(&consumer, Duration::from_secs(3)).await?;
    ensure!(came.len() == 3, "3 jobs were published before there was a consumer, and {} came", came.len());
    Ok(())
}

/// C-34: requests that are dropped at any moment lose no delivery.
pub(crate) async fn c_34<B: Backend>(stage: &Stage<'_, B>) -> Check {
    const JOBS: u64 = 1_000;
    let (worker, name) = stage.fresh().await?;
    let producer = if outlives(worker.capabilities()) { Some(stage.connect(&name).await?) } else { None };
    let mut got: VecDeque<queue_core::DeliveryOf<B::Worker>> = VecDeque::new();
    let mut came = BTreeSet::new();
    for at in 0..JOBS {
        // Polled so often, then dropped: before, while and after a job arrives.
        let (polls, mut published) = (at % 4, false);
        {
            let mut request = std::pin::pin!(worker.request(1, &mut got));
            for poll in 0..polls {
                if poll == 1 {
                    published = true;
                    stage.publish(producer.as_ref().unwrap_or(&worker), Job::new(at)).await?;
                }
                let ready =
                    std::future::poll_fn(|cx| std::task::Poll::Ready(request.as_mut().poll(cx).is_ready())).await;
                if ready {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        if !published {
            stage.publish(producer.as_ref().unwrap_or(&worker), Job::new(at)).await?;
        }
        while let Some(delivery) = got.pop_front() {
            let (job, unsettled) = super::stage::open(delivery);
            came.insert(job.map_or(u64::MAX, |job| job.number));
            stage.settle_ours(&worker, unsettled, Verdict::Ack).await?;
        }
    }
    came.extend(stage.drain(&worker, Duration::from_secs(2)).await?);
    let lost = (0..JOBS).filter(|number| !came.contains(number)).count();
    ensure!(lost == 0, "{JOBS} requests were dropped half way, and {lost} of {JOBS} jobs never came");
    side_by_side(stage, &worker, producer.as_ref().unwrap_or(&worker)).await
}

/// Slots ask side by side: each is woken for a job of its own, and for that of one that is dropped.
async fn side_by_side<B: Backend>(stage: &Stage<'_, B>, worker: &B::Worker, producer: &B::Worker) -> Check {
    worker.demand(Demand::of(2));
    for dropped in [true, false] {
        let (mut left, mut right) = (VecDeque::new(), VecDeque::new());
        let mut first = Some(Alone::new(worker.request(1, &mut left)));
        let mut second = Alone::new(worker.request(1, &mut right));
        let early = first.as_mut().is_some_and(Alone::is_ready) || second.is_ready();
        ensure!(!early, "a request was ready without a job");
        stage.publish(producer, Job::new(1)).await?;
        if dropped {
            first = None;
        } else {
            stage.publish(producer, Job::new(2)).await?;
        }
        let mut ready = || second.is_ready() && first.as_mut().is_none_or(Alone::is_ready);
        let what =
            if dropped { "a request got the job of another that was dropped" } else { "two requests got a job each" };
        stage.until(what, &mut ready).await?;
        drop((first, second));
        for delivery in left.into_iter().chain(right) {
            // Whose it is then is the matter of other rows.
            let _settled = stage.settle(worker, delivery, Verdict::Ack).await?;
        }
    }
    Ok(())
}

/// C-35: what is unsettled at the broker is never more than slots and prefetch; what is asked for is never exceeded.
pub(crate) async fn c_35<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.publish_many(&worker, 0..50).await?;
    worker.demand(Demand::of(3));
    let mut first = stage.take_up_to(&worker, 2).await?;
    let had: Vec<JobId> = first.iter().map(|delivery| delivery.meta.id).collect();
    // What the caller has there already counts for nothing.
    let answer = stage.within("`request`", worker.request(1, &mut first)).await?;
    ensure!(answer.is_ok(), "`request` failed: {answer:?}");
    let kept = first.iter().map(|delivery| delivery.meta.id).take(had.len()).eq(had.iter().copied());
    ensure!(kept && first.len() == had.len() + 1, "`request` for one more made {} of {}", first.len(), had.len());
    let (lonely, _) = stage.fresh().await?;
    stage.publish(&lonely, Job::new(1)).await?;
    // One is enough: it does not wait for a second.
    let mut all = stage.take_up_to(&lonely, 2).await?;
    let more = timeout(Duration::from_millis(300), lonely.request(1, &mut all)).await;
    ensure!(more.is_err(), "`request` was ready without a new delivery: {more:?}");
    stage.outlives(&worker)?;
    let Some(operator) = stage.backend.operator() else {
        return Err(Stop::Unproven("`Operator::counts`".to_owned()));
    };
    let mut held = first;
    loop {
        let counts = operator.counts(&name).await.map_err(|_| Stop::Unproven("`Operator::counts`".to_owned()))?;
        ensure!(counts.unsettled <= 3, "3 slots and no prefetch, and {} are unsettled at the broker", counts.unsettled);
        if held.len() == 3 {
            return Ok(());
        }
        held.push_back(stage.take(&worker).await?);
    }
}

/// C-38: 5,000 jobs from 50 producers to 50 consumers, every one under an id of its own; two queues never meet.
pub(crate) async fn c_38<B: Backend>(stage: &Stage<'_, B>) -> Check {
    const PEOPLE: u64 = 50;
    const EACH: u64 = 100;
    let (worker, name) = stage.fresh().await?;
    let ran: Arc<Mutex<Vec<(JobId, u64)>>> = Arc::default();
    let handler = |ran: &Arc<Mutex<Vec<(JobId, u64)>>>| {
        let ran = ran.clone();
        move |job: Job, cx: Context| {
            ran.lock().push((cx.id(), job.number));
            std::future::ready(())
        }
    };
    let shares = outlives(worker.capabilities());
    // Where each consumer is a connection of its own, ten of five slots do for fifty.
    let (consumers, slots) = if shares { (10, 5) } else { (1, 50) };
    let mut workers = vec![worker];
    while workers.len() < consumers {
        workers.push(stage.connect(&name).await?);
    }
    let start = |worker| Queue::with_worker(Probe::new(worker).0).slots(slots).start(handler(&ran)).map_err(failed);
    let queues = workers.into_iter().map(start).collect::<Result<Vec<_>, _>>()?;
    let mut producers = tokio::task::JoinSet::new();
    let enqueuers: Vec<Enqueuer<Job>> = queues.iter().map(Queue::enqueuer).collect();
    for producer in 0..PEOPLE {
        let enqueuer = enqueuers[producer as usize % enqueuers.len()].clone();
        producers.spawn(async move {
            let mut ids = Vec::new();
            for at in 0..EACH {
                ids.push(enqueuer.enqueue(Job::new(producer * EACH + at)).await.map_err(|error| error.to_string())?);
            }
            Ok::<_, String>(ids)
        });
    }
    let mut accepted = BTreeSet::new();
    while let Some(ids) = stage.within("50 producers", producers.join_next()).await? {
        accepted.extend(ids.map_err(failed)?.map_err(|error| Stop::Failed(format!("`enqueue` failed: {error}")))?);
    }
    stage.until("5,000 jobs are handled", || ran.lock().len() as u64 >= PEOPLE * EACH).await?;
    ensure!(accepted.len() as u64 == PEOPLE * EACH, "5,000 jobs of 50 producers have {} ids", accepted.len());
    let came: BTreeSet<JobId> = ran.lock().iter().map(|(id, _)| *id).collect();
    ensure!(
        came == accepted,
        "{} ids were accepted, {} others came",
        accepted.len(),
        came.difference(&accepted).count()
    );
    let numbers: BTreeSet<u64> = ran.lock().iter().map(|(_, number)| *number).collect();
    ensure!(numbers.len() as u64 == PEOPLE * EACH, "of 5,000 jobs {} came", numbers.len());

    let ((left, _), (right, _)) = (stage.fresh().await?, stage.fresh().await?);
    stage.publish_many(&left, 0..100).await?;
    stage.publish_many(&right, 100..200).await?;
    for (worker, mine) in [(&left, 0..100), (&right, 100..200)] {
        let came: BTreeSet<u64> = stage.drain(worker, Duration::from_secs(1)).await?.into_iter().collect();
        ensure!(
            came == mine.clone().collect(),
            "a queue with the jobs {mine:?} handed out {} jobs of others or lost some",
            came.len()
        );
    }
    Ok(())
}

/// C-39: consumers that come and go lose nothing: ten that start and end at once, and five rounds over 5,000 jobs.
pub(crate) async fn c_39<B: Backend>(stage: &Stage<'_, B>) -> Check {
    const JOBS: u64 = 5_000;
    let (worker, name) = stage.fresh().await?;
    stage.outlives(&worker)?;
    for _ in 0..10 {
        let consumer = stage.connect(&name).await?;
        let queue = Queue::with_worker(Probe::new(consumer).0).slots(2).start(async |_: Job| {}).map_err(failed)?;
        stage.end(&queue).await?;
    }
    stage.publish_many(&worker, 0..50).await?;
    let came: BTreeSet<u64> = stage.drain(&worker, Duration::from_secs(3)).await?.into_iter().collect();
    ensure!(came.len() == 50, "10 consumers came and went, and of 50 jobs published then {} came", came.len());

    for chunk in 0..50 {
        stage.publish_many(&worker, chunk * 100..(chunk + 1) * 100).await?;
    }
    let ran: Arc<Mutex<BTreeSet<u64>>> = Arc::default();
    for round in 1..=5 {
        let seen = ran.clone();
        let handler = move |job: Job| {
            seen.lock().insert(job.number);
            std::future::ready(())
        };
        let consumer = stage.connect(&name).await?;
        let queue = Queue::with_worker(Probe::new(consumer).0).slots(8).start(handler).map_err(failed)?;
        let goal = usize::try_from(JOBS / 5 * round).unwrap_or(usize::MAX);
        stage.until("a fifth of the jobs", || ran.lock().len() >= goal).await?;
        stage.end(&queue).await?;
    }
    let count = ran.lock().len() as u64;
    ensure!(count == JOBS, "5 rounds of consumers over {JOBS} jobs, and {count} ran");
    Ok(())
}

/// C-40: jobs that fail some times are done in the end, each of them.
pub(crate) async fn c_40<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.claims(&worker, Feature::Retries)?;
    stage.publish_many(&worker, 0..100).await?;
    let retry = Retry::fixed(50, Duration::from_millis(20));
    let handler = async |job: Job, cx: Context| {
        if job.number < 2 && cx.attempt() == 1 { Err(std::io::Error::other("once")) } else { Ok(()) }
    };
    let queue = Queue::with_worker(Probe::new(worker).0).slots(4).retry(retry).start(handler).map_err(failed)?;
    stage.until("100 jobs are done, two of them at the second attempt", || queue.stats().done >= 100).await?;
    ensure!(queue.stats().done == 100, "100 jobs are done {} times", queue.stats().done);
    stage.end(&queue).await?;
    drop(queue);

    let worker = stage.connect(&name).await?;
    let consumers = if outlives(worker.capabilities()) { 3 } else { 1 };
    stage.publish_many(&worker, 0..50).await?;
    let failures = Arc::new(AtomicU64::new(0));
    let mut workers = vec![worker];
    while workers.len() < consumers {
        workers.push(stage.connect(&name).await?);
    }
    let mut queues = Vec::new();
    for worker in workers {
        let failures = failures.clone();
        let handler = move |_: Job| {
            let early = failures.fetch_add(1, Ordering::SeqCst) < 100;
            std::future::ready(if early { Err(std::io::Error::other("early")) } else { Ok(()) })
        };
        queues.push(Queue::with_worker(Probe::new(worker).0).slots(4).retry(retry).start(handler).map_err(failed)?);
    }
    let done = || queues.iter().map(|queue| queue.stats().done).sum::<u64>();
    stage.until("50 jobs are done after 100 failed attempts", || done() >= 50).await?;
    ensure!(done() == 50, "50 jobs are done {} times", done());
    Ok(())
}
