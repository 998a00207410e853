//! Attempts, and what brings a job back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use queue::{Queue, Retry};
use queue_core::{
    Cause, DeliveryOf, Durability, Extra, Feature, JobId, Meta, Page, Reason, Settled, Settling, Verdict, Worker,
};
use tokio::time::Instant;

use super::probe::Probe;
use super::stage::{Stage, durable, number, outlives};
use super::{Check, Stop, ensure};
use crate::{Backend, Fault, Job};

/// C-10: the first delivery is attempt 1, the next after a crash attempt 2; a job that kills its consumers is dead once its attempts are spent, without another start.
pub(crate) async fn c_10<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.publish(&worker, Job::new(1)).await?;
    let mut delivery = stage.take(&worker).await?;
    ensure!(delivery.meta.attempt == 1, "the first delivery is attempt {}", delivery.meta.attempt);
    stage.outlives(&worker)?;
    stage.claims(&worker, Feature::CrashCap)?;
    let mut killed = worker;
    for attempt in 2..=4 {
        drop((delivery, killed));
        killed = stage.connect(&name).await?;
        delivery = stage.take(&killed).await?;
        let found = delivery.meta.attempt;
        ensure!(found >= attempt, "after {} crashes the delivery is attempt {found}", attempt - 1);
    }
    drop((delivery, killed));
    let worker = stage.connect(&name).await?;
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = starts.clone();
    let handler = move |_: Job| {
        counted.fetch_add(1, Ordering::SeqCst);
        std::future::ready(())
    };
    let queue = Queue::with_worker(Probe::new(worker).0).slots(1).retry(Retry::fixed(2, Duration::ZERO)).start(handler);
    let queue = queue.map_err(|error| Stop::Failed(format!("no start: {error}")))?;
    stage.until("the job is dead", || queue.stats().dead == 1).await?;
    ensure!(starts.load(Ordering::SeqCst) == 0, "a job whose attempts were spent by crashes was started once more");
    if let Some(letters) = queue.worker().inner().facets().letters() {
        let found = stage.within("`dead_letters`", letters.dead_letters(Page::first(10))).await?;
        let found = found.map_err(|error| Stop::Failed(format!("`dead_letters` failed: {error}")))?;
        let reasons: Vec<Reason> = found.iter().map(|letter| letter.cause.reason).collect();
        ensure!(reasons == [Reason::AttemptsExhausted], "its dead letter says {reasons:?}");
    }
    Ok(())
}

/// C-11: three retries are four starts: the engine's and the broker's do not multiply.
pub(crate) async fn c_11<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, _) = stage.fresh().await?;
    stage.claims(&worker, Feature::Retries)?;
    stage.publish(&worker, Job::new(1)).await?;
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = starts.clone();
    let handler = move |_: Job| {
        let start = counted.fetch_add(1, Ordering::SeqCst);
        // A worker that never lets it end is stopped here.
        std::future::ready(if start > 20 { Ok(()) } else { Err(std::io::Error::other("always")) })
    };
    let retry = Retry::fixed(3, Duration::from_millis(10));
    let queue = Queue::with_worker(Probe::new(worker).0).slots(2).retry(retry).start(handler);
    let queue = queue.map_err(|error| Stop::Failed(format!("no start: {error}")))?;
    stage.until("the job has ended", || queue.stats().dead + queue.stats().done == 1).await?;
    stage.pass(Duration::from_secs(1)).await;
    let starts = starts.load(Ordering::SeqCst);
    ensure!(starts == 4, "three retries of a job that always fails are {starts} starts");
    ensure!(queue.stats().dead == 1, "a job that always fails is not dead");
    Ok(())
}

/// C-12: a return is deliverable at once as the same attempt; a retry is the next one, and not before its wait.
pub(crate) async fn c_12<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, _) = stage.fresh().await?;
    stage.publish_with(&worker, Job::new(1), of_north()).await?;
    let delivery = stage.take(&worker).await?;
    if stage.settle(&worker, delivery, Verdict::Return { after: Duration::ZERO }).await? == Settled::Gone {
        return stage.claims(&worker, Feature::Retries);
    }
    let delivery = stage.take(&worker).await?;
    ensure!(delivery.meta.attempt == 1, "a returned job came back as attempt {}", delivery.meta.attempt);
    stage.claims(&worker, Feature::Retries)?;
    let asked = Instant::now();
    stage.settle_ours(&worker, delivery, Verdict::Retry { after: Duration::ZERO }).await?;
    let mut delivery = stage.take(&worker).await?;
    ensure!(delivery.meta.attempt == 2, "a retried job came back as attempt {}", delivery.meta.attempt);
    ensure!(is_of_north(&delivery.meta), "a retried job came back without its headers");
    stage.measure(format!("retry without a wait back after {:?}", asked.elapsed()));
    stage.claims(&worker, Feature::Delays)?;
    let wait = Duration::from_secs(2);
    for (after, attempt) in [(Verdict::Return { after: wait }, 2), (Verdict::Retry { after: wait }, 3)] {
        let (said, asked) = (format!("{after:?}"), Instant::now());
        stage.settle_ours(&worker, delivery, after).await?;
        delivery = stage.take(&worker).await?;
        ensure!(asked.elapsed() >= wait, "{said} came back after {:?}", asked.elapsed());
        ensure!(delivery.meta.attempt == attempt, "{said} came back as attempt {}", delivery.meta.attempt);
        ensure!(is_of_north(&delivery.meta), "{said} came back without the job's headers");
    }
    stage.settle_ours(&worker, delivery, Verdict::Ack).await
}

/// A header that a job must keep.
fn of_north() -> Extra {
    let mut extra = Extra::default();
    extra.headers.set("tenant", "north");
    extra
}

fn is_of_north(meta: &Meta) -> bool {
    meta.extra.as_ref().and_then(|extra| extra.headers.get("tenant")) == Some(b"north")
}

fn cause(reason: Reason, error: &str) -> Verdict {
    Verdict::Dead { cause: Box::new(Cause { reason, error: error.into() }) }
}

/// C-13: the copy of a retry or a dead letter is stored before the original is given up: a broker that stores nothing loses nothing.
pub(crate) async fn c_13<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let verdicts = [
        (Feature::Retries, Verdict::Retry { after: Duration::from_millis(10) }),
        (Feature::DeadLetters, cause(Reason::Permanent, "for good")),
    ];
    let mut asked = false;
    for (feature, verdict) in verdicts {
        let (worker, name) = stage.fresh().await?;
        stage.outlives(&worker)?;
        if !worker.capabilities().has(feature) {
            continue;
        }
        asked = true;
        let said = format!("{verdict:?}");
        stage.publish_many(&worker, 0..2).await?;
        let held = stage.hold(&worker, 2).await?;
        stage.inject(Fault::Full).await?;
        let asks = |delivery: DeliveryOf<B::Worker>| Settling::new(delivery.into(), verdict.clone());
        let mut settling: Vec<_> = held.into_iter().map(asks).collect();
        // Whatever it answers: the jobs must be somewhere afterwards. A call that waits for room is dropped.
        drop(tokio::time::timeout(Duration::from_secs(2), worker.settle(&mut settling)).await);
        let was: Vec<_> = settling.iter().map(Settling::answered).collect();
        drop((settling, worker));
        stage.inject(Fault::Roomy).await?;
        let other = stage.connect(&name).await?;
        let letters = match other.facets().letters() {
            Some(letters) => letters.dead_letters(Page::first(2)).await.map_or(0, |letters| letters.len()),
            None => 0,
        };
        for _ in letters..2 {
            let again = stage.take(&other).await.map_err(|_| {
                Stop::Failed(format!(
                    "two of {said} on a broker that stores nothing were answered {was:?}, and a job is gone"
                ))
            })?;
            stage.settle_ours(&other, again, Verdict::Ack).await?;
        }
    }
    if asked { Ok(()) } else { Err(Stop::skip("it claims neither retries nor dead letters".to_owned())) }
}

/// C-14: of a consumer that dies all that was unsettled comes again, and nothing else; so does a delivery that is dropped; a restart of the broker loses nothing in flight.
pub(crate) async fn c_14<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.outlives(&worker)?;
    stage.publish_many(&worker, 0..30).await?;
    let mut settled = BTreeSet::new();
    let mut held = stage.hold(&worker, 20).await?;
    for delivery in held.drain(..5) {
        let (job, unsettled) = super::stage::open(delivery);
        settled.insert(job.map_or(u64::MAX, |job| job.number));
        stage.settle_ours(&worker, unsettled, Verdict::Ack).await?;
    }
    let unsettled = held.len();
    drop((held, worker));
    let other = stage.connect(&name).await?;
    let came = stage.drain(&other, stage.backend.takeover() * 2).await?;
    let unique: BTreeSet<u64> = came.iter().copied().collect();
    let again = unique.intersection(&settled).count();
    ensure!(again == 0, "{again} jobs that were settled came again");
    ensure!(unique.len() == 25, "of 30 jobs 5 were settled, and {} of the other 25 came", unique.len());
    let duplicates = came.len() - unique.len();
    // What is dropped unsettled is given up, while its consumer lives.
    stage.publish(&other, Job::new(50)).await?;
    drop(stage.take(&other).await?);
    let again = stage.take(&other).await?;
    stage.settle_ours(&other, again, Verdict::Ack).await?;
    ensure!(duplicates <= unsettled, "{duplicates} duplicates after a crash with {unsettled} unsettled");
    stage.measure(format!("{duplicates} duplicates after a crash with {unsettled} unsettled"));
    // So is a delivery that is dropped while its consumer lives.
    stage.publish(&other, Job::new(50)).await?;
    drop(stage.take(&other).await?);
    let again = stage.take(&other).await?;
    stage.settle_ours(&other, again, Verdict::Ack).await?;
    if other.capabilities().durability < Durability::Restart {
        return Ok(());
    }
    stage.publish_many(&other, 100..103).await?;
    let held = stage.hold(&other, 2).await?;
    stage.inject(Fault::Restart).await?;
    drop(held);
    let came: BTreeSet<u64> = stage.drain(&other, stage.backend.takeover() * 2).await?.into_iter().collect();
    ensure!(
        came == BTreeSet::from([100, 101, 102]),
        "the broker restarted with 3 jobs, 2 of them in flight, and {came:?} came"
    );
    Ok(())
}

/// C-19: a dead letter that is put back runs as attempt 1, with its headers; listing and what is not there change nothing.
pub(crate) async fn c_19<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, _) = stage.fresh().await?;
    stage.claims(&worker, Feature::DeadLetters)?;
    let letters =
        worker.facets().letters().ok_or_else(|| Stop::Failed("it claims dead letters and lists none".into()))?;
    let mut ids = Vec::new();
    for number in 0..3 {
        ids.push(stage.publish_with(&worker, Job::new(number), of_north()).await?);
        let delivery = stage.take(&worker).await?;
        stage.settle_ours(&worker, delivery, cause(Reason::Permanent, "for good")).await?;
    }
    let listed = |page| async move {
        let letters = stage.within("`dead_letters`", letters.dead_letters(page)).await?;
        let letters = letters.map_err(|error| Stop::Failed(format!("`dead_letters` failed: {error}")))?;
        Ok::<Vec<JobId>, Stop>(letters.into_iter().map(|letter| letter.meta.id).collect())
    };
    for _ in 0..3 {
        let found = listed(Page::first(10)).await?;
        ensure!(found == ids, "the jobs {ids:?} are dead, and a listing shows {found:?}: it loses and spends nothing");
    }
    let found = listed(Page { skip: 1, limit: 1 }).await?;
    ensure!(found == ids[1..2], "the second of the dead letters {ids:?} was asked for, and {found:?} listed");
    for there in [true, false] {
        let discarded = stage.within("`discard`", letters.discard(ids[2])).await?;
        ensure!(matches!(discarded, Ok(was) if was == there), "`discard`, there: {there}, answered {discarded:?}");
    }
    let replayed = stage.within("`replay`", letters.replay(ids[0])).await?;
    ensure!(matches!(replayed, Ok(true)), "`replay` of a listed dead letter answered {replayed:?}");
    let delivery = stage.take(&worker).await?;
    ensure!(delivery.meta.id == ids[0], "a replayed job has another id");
    ensure!(delivery.meta.attempt == 1, "a replayed job runs as attempt {}", delivery.meta.attempt);
    ensure!(is_of_north(&delivery.meta), "a replayed job has lost its headers");
    ensure!(number(delivery) == 0, "another job was replayed");
    let replayed = stage.within("`replay`", letters.replay(ids[0])).await?;
    ensure!(matches!(replayed, Ok(false)), "a second `replay` of a dead letter answered {replayed:?}");
    let found = listed(Page::first(10)).await?;
    ensure!(found == ids[1..2], "of the dead letters {ids:?} one was put back and one discarded: {found:?} are left");
    Ok(())
}

/// C-41: the wait of a retry survives its consumer: elsewhere it is attempt 2, and not before its time.
pub(crate) async fn c_41<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.claims(&worker, Feature::Retries)?;
    if !outlives(worker.capabilities()) || !durable(worker.capabilities(), Feature::Delays) {
        return Err(Stop::skip("its waits die with the process".to_owned()));
    }
    stage.publish(&worker, Job::new(1)).await?;
    let delivery = stage.take(&worker).await?;
    let (wait, asked) = (Duration::from_secs(5), Instant::now());
    stage.settle_ours(&worker, delivery, Verdict::Retry { after: wait }).await?;
    drop(worker);
    let other = stage.connect(&name).await?;
    let delivery = stage.take(&other).await?;
    ensure!(asked.elapsed() >= wait, "the consumer died, and its retry of {wait:?} came after {:?}", asked.elapsed());
    ensure!(delivery.meta.attempt == 2, "the retry came elsewhere as attempt {}", delivery.meta.attempt);
    stage.settle_ours(&other, delivery, Verdict::Ack).await
}
