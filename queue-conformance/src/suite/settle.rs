//! Settling: once, and not before the handler's end.

use std::time::Duration;

use queue::{Context, Error, Queue, Retry};
use queue_core::{Feature, Settled, Settling, Verdict, Worker};

use super::gate::{Gate, start};
use super::probe::{Note, Probe};
use super::stage::{Stage, outlives};
use super::{Check, Stop, ensure};
use crate::{Backend, Fault, Job};

/// C-1: no ack before the handler's end; a job whose consumer dies comes again, whatever else that consumer acknowledged.
pub(crate) async fn c_1<B: Backend>(stage: &Stage<'_, B>) -> Check {
    const JOBS: usize = 1_000;
    let (worker, name) = stage.fresh().await?;
    stage.publish_many(&worker, 0..JOBS as u64).await?;
    let (probe, notes) = Probe::new(worker);
    let ended = notes.clone();
    let queue = Queue::with_worker(probe).slots(8).start(move |_: Job, cx: Context| {
        let ended = ended.clone();
        async move {
            tokio::task::yield_now().await;
            ended.add(Note::Ended((cx.id(), cx.attempt())));
        }
    });
    let queue = queue.map_err(|error| Stop::Failed(format!("no start: {error}")))?;
    let done = || notes.count(|note| matches!(note, Note::Answered(_, Settled::Done)));
    stage.until("1,000 jobs are acknowledged", || done() >= JOBS).await?;
    let mut ended = std::collections::HashSet::new();
    for note in notes.all() {
        match note {
            Note::Ended(which) => drop(ended.insert(which)),
            Note::Asked(which) => ensure!(ended.contains(&which), "{which:?} was settled before its handler's end"),
            Note::Taken(_) | Note::Answered(..) => {}
        }
    }
    stage.end(&queue).await?;

    let worker = stage.connect(&name).await?;
    if !outlives(worker.capabilities()) {
        return Ok(());
    }
    stage.publish_many(&worker, 0..2).await?;
    let mut held = stage.hold(&worker, 2).await?;
    let (second, first) = (held.remove(1), held.remove(0));
    let unfinished = first.meta.id;
    stage.settle_ours(&worker, second, Verdict::Ack).await?;
    drop(first);
    drop(worker);
    let other = stage.connect(&name).await?;
    let again = stage.take(&other).await?;
    ensure!(again.meta.id == unfinished, "the job that was not acknowledged did not come again, another did");
    stage.settle_ours(&other, again, Verdict::Ack).await
}

/// C-2: whatever its handler's end, a delivery is settled once.
pub(crate) async fn c_2<B: Backend>(stage: &Stage<'_, B>) -> Check {
    // The job 0 ends well.
    const ERROR: u64 = 1;
    const PANIC: u64 = 2;
    const HANGS: u64 = 3;
    const PERMANENT: u64 = 4;
    const KEPT: u64 = 5;
    let (worker, _) = stage.fresh().await?;
    let retries = worker.capabilities().has(Feature::Retries);
    stage.publish_many(&worker, 0..KEPT).await?;
    let (probe, notes) = Probe::new(worker);
    let gate = Gate::new();
    let handler = {
        let gate = gate.clone();
        move |job: Job, cx: Context| {
            let gate = gate.clone();
            async move {
                match job.number {
                    ERROR if cx.attempt() == 1 => Err(Error::from(std::io::Error::other("once"))),
                    PANIC if cx.attempt() == 1 => {
                        // At another moment than the others, so that each retry is due by itself.
                        tokio::time::sleep(Duration::from_millis(5)).await;
                        panic!("a planned panic of the suite")
                    }
                    HANGS if cx.attempt() == 1 => std::future::pending().await,
                    PERMANENT => Err(Error::permanent("for good")),
                    KEPT => {
                        gate.pass().await;
                        Ok(())
                    }
                    _ => Ok(()),
                }
            }
        }
    };
    let retry = if retries { Retry::fixed(2, Duration::from_millis(10)) } else { Retry::none() };
    let queue = Queue::with_worker(probe).slots(6).retry(retry).timeout(Duration::from_secs(2)).start(handler);
    let queue = queue.map_err(|error| Stop::Failed(format!("no start: {error}")))?;
    let settled = || notes.count(|note| matches!(note, Note::Answered(..)));
    // ok, permanent, and the three that fail once; each of those again where it is retried.
    let expected = if retries { 2 + 3 * 2 } else { 2 + 3 };
    stage.until("each delivery is settled", || settled() >= expected).await?;
    // The last one runs while the queue ends, and is handed back.
    queue.enqueue(Job::new(KEPT)).await.map_err(|error| Stop::Failed(format!("`enqueue` failed: {error}")))?;
    stage.until("the job that is kept runs", || gate.starts() == 1).await?;
    let ended = stage.within("`shutdown`", queue.shutdown(Duration::from_millis(100))).await?;
    if let Err(error) = ended {
        return Err(Stop::Failed(format!("a queue's shutdown failed: {error}")));
    }
    for note in notes.all() {
        let Note::Taken(which) = note else { continue };
        let asked = notes.count(|note| *note == Note::Asked(which));
        // Gone: it was moved into its handler, by a worker that says that it keeps no copy.
        let is_done = |settled| settled == Settled::Done || (settled == Settled::Gone && !retries);
        let done = notes.count(|note| matches!(note, Note::Answered(it, settled) if *it == which && is_done(*settled)));
        ensure!((asked, done) == (1, 1), "{which:?} was settled {asked} times, {done} of them done");
    }
    Ok(())
}

/// C-9: a settle that fails on its way is asked again while the job is ours, and is no failed attempt.
pub(crate) async fn c_9<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.outlives(&worker)?;
    stage.publish(&worker, Job::new(1)).await?;
    let nothing = stage.within("`settle` of nothing", worker.settle(&mut [])).await?;
    ensure!(nothing.is_ok(), "`settle` of nothing failed: {nothing:?}");
    stage.inject(Fault::FailSettles(2)).await?;
    let gate = Gate::new();
    gate.release();
    let queue = start(worker, &gate)?;
    stage.until("the job is done", || queue.stats().done == 1).await?;
    let stats = queue.stats();
    ensure!(stats.failed == 0, "a settle that failed on its way was counted as a failed attempt");
    stage.end(&queue).await?;
    drop(queue);
    let other = stage.connect(&name).await?;
    stage.quiet(&other, stage.backend.takeover(), "a job was done, and its settle had failed on its way").await?;
    ensure!(gate.starts() == 1, "a job whose settle failed on its way ran {} times", gate.starts());
    dropped_settle(stage, other, &name).await
}

/// A call that is dropped half way is one that fails: it answered what the broker has heard, and nothing else.
async fn dropped_settle<B: Backend>(stage: &Stage<'_, B>, worker: B::Worker, name: &str) -> Check {
    stage.publish(&worker, Job::new(2)).await?;
    let mut settling = [Settling::new(stage.take(&worker).await?.into(), Verdict::Ack)];
    stage.inject(Fault::Freeze).await?;
    drop(tokio::time::timeout(Duration::from_millis(200), worker.settle(&mut settling)).await);
    stage.inject(Fault::Thaw).await?;
    let [settling] = settling;
    if let Some((unsettled, verdict)) = settling.into_asked() {
        // Done, or lost where the first call got through.
        stage.settle(&worker, unsettled, verdict).await?;
    }
    stage.shutdown(&worker).await?;
    drop(worker);
    let other = stage.connect(name).await?;
    stage.quiet(&other, stage.backend.takeover(), "a job was done, and the first call that said so was dropped").await
}
