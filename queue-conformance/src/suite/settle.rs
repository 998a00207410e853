//! Settling: once, by its owner, and not before the handler's end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use queue::{Context, Error, Queue, Retry, blocking};
use queue_core::{Feature, Receipt, Settled, Settling, Verdict, Worker};
use tokio::sync::Semaphore;

use super::probe::{Note, Probe};
use super::stage::{Stage, number, outlives};
use super::{Check, Stop, ensure};
use crate::{Backend, Fault, Job};

/// Starts are counted, and each handler waits until its test lets it go.
#[derive(Clone)]
struct Gate {
    starts: Arc<AtomicUsize>,
    open: Arc<Semaphore>,
}

impl Gate {
    fn new() -> Self {
        Self { starts: Arc::default(), open: Arc::new(Semaphore::new(0)) }
    }

    fn starts(&self) -> usize {
        self.starts.load(Ordering::SeqCst)
    }

    async fn pass(self) {
        self.starts.fetch_add(1, Ordering::SeqCst);
        // Never closed: an error would let the handler go as well.
        drop(self.open.acquire().await);
    }

    fn release(&self) {
        self.open.add_permits(Semaphore::MAX_PERMITS / 2);
    }
}

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

/// Takes a job, goes silent, and lets another consumer have it: both deliveries, and the other consumer.
async fn overtaken<B: Backend>(
    stage: &Stage<'_, B>,
    worker: &B::Worker,
    name: &str,
    jobs: usize,
) -> Result<(Vec<queue_core::DeliveryOf<B::Worker>>, Vec<queue_core::DeliveryOf<B::Worker>>, B::Worker), Stop> {
    stage.publish_many(worker, 0..jobs as u64).await?;
    let stale = stage.hold(worker, jobs).await?;
    stage.inject(Fault::Freeze).await?;
    let other = stage.connect(name).await?;
    let taken = stage.hold(&other, jobs).await?;
    stage.inject(Fault::Thaw).await?;
    Ok((stale, taken, other))
}

/// C-3: a settle after the lease has expired or the connection was cut answers lost ownership, and the new owner keeps the job.
pub(crate) async fn c_3<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.outlives(&worker)?;
    if worker.capabilities().has(Feature::Leases) {
        let after = Duration::ZERO;
        let verdicts = [Verdict::Ack, Verdict::Retry { after }, Verdict::Return { after }];
        let (stale, taken, other) = overtaken(stage, &worker, &name, verdicts.len()).await?;
        for (stale, verdict) in stale.into_iter().zip(verdicts) {
            let said = format!("{verdict:?}");
            let settled = stage.settle(&worker, stale, verdict).await?;
            ensure!(settled == Settled::LostOwnership, "a stale {said} answered {settled:?}, not lost ownership");
        }
        for taken in taken {
            stage.settle_ours(&other, taken, Verdict::Ack).await?;
        }
        stage.quiet(&other, Duration::from_secs(1), "stale settles change nothing, and all jobs are done").await?;
        stage.shutdown(&other).await?;
    }
    asked_twice(stage, &worker).await?;
    stage.publish(&worker, Job::new(7)).await?;
    let held = stage.take(&worker).await?;
    stage.inject(Fault::Cut).await?;
    // A lease may outlive its connection; a channel does not.
    if stage.settle(&worker, held, Verdict::Ack).await? == Settled::LostOwnership {
        let again = stage.take(&worker).await?;
        ensure!(number(again) == 7, "after the cut another job came");
    } else {
        stage.quiet(&worker, stage.backend.takeover(), "a job was acknowledged after a cut").await?;
    }
    stage.publish(&worker, Job::new(8)).await?;
    let next = stage.drain(&worker, stage.backend.takeover()).await?;
    ensure!(next.contains(&8), "the consumer did not go on after a lost ownership: it got {next:?}");
    Ok(())
}

/// A settle is dropped half way, and asked again: by then the delivery may be another's, of the same job.
async fn asked_twice<B: Backend>(stage: &Stage<'_, B>, worker: &B::Worker) -> Check {
    stage.publish(worker, Job::new(6)).await?;
    let delivery = stage.take(worker).await?;
    let mut settling = [Settling::new(delivery.into(), Verdict::Return { after: Duration::ZERO })];
    {
        let mut half = std::pin::pin!(worker.settle(&mut settling));
        std::future::poll_fn(|cx| std::task::Poll::Ready(half.as_mut().poll(cx).is_ready())).await;
    }
    let [settling] = settling;
    let Some((first, _)) = settling.into_asked() else {
        return stage.drain(worker, Duration::from_secs(1)).await.map(drop);
    };
    let mut got = std::collections::VecDeque::new();
    if let Ok(Ok(())) = tokio::time::timeout(Duration::from_secs(2), worker.request(1, &mut got)).await {
        let settled = stage.settle(worker, first, Verdict::Ack).await?;
        ensure!(
            settled == Settled::LostOwnership,
            "a return was carried out and asked again: its answer was {settled:?}"
        );
        for second in got {
            stage.settle_ours(worker, second, Verdict::Ack).await?;
        }
        return Ok(());
    }
    stage.settle_ours(worker, first, Verdict::Ack).await
}

/// C-4: who lost a job counts it lost, and one consumer counts it done.
pub(crate) async fn c_4<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.outlives(&worker)?;
    stage.claims(&worker, Feature::Leases)?;
    let (mut stale, mut taken, other) = overtaken(stage, &worker, &name, 1).await?;
    stage.settle_ours(&other, taken.remove(0), Verdict::Ack).await?;
    let settled = stage.settle(&worker, stale.remove(0), Verdict::Ack).await?;
    ensure!(settled == Settled::LostOwnership, "a job that another consumer has finished was answered {settled:?}");

    stage.publish(&worker, Job::new(1)).await?;
    let (first, second) = (Gate::new(), Gate::new());
    let loser = start(worker, &first)?;
    stage.until("the first consumer runs the job", || first.starts() == 1).await?;
    stage.inject(Fault::Freeze).await?;
    let third = stage.connect(&name).await?;
    let winner = start(third, &second)?;
    stage.until("the second consumer runs the job", || second.starts() == 1).await?;
    second.release();
    stage.until("the second consumer counts it done", || winner.stats().done == 1).await?;
    stage.inject(Fault::Thaw).await?;
    first.release();
    stage.until("the first consumer counts it lost", || loser.stats().lost == 1).await?;
    ensure!(loser.stats().done == 0, "both consumers count the job done");
    Ok(())
}

fn start<W: Worker<Job = Job>>(worker: W, gate: &Gate) -> Result<Queue<Probe<W>>, Stop> {
    let gate = gate.clone();
    let queue = Queue::with_worker(Probe::new(worker).0).slots(1).start(move |_: Job| gate.clone().pass());
    queue.map_err(|error| Stop::Failed(format!("no start: {error}")))
}

/// C-5: a handler that takes three times the lease runs once, also where it blocks its thread.
pub(crate) async fn c_5<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.outlives(&worker)?;
    stage.claims(&worker, Feature::Leases)?;
    let others = stage.connect(&name).await?;
    stage.publish(&worker, Job::new(1)).await?;
    let gate = Gate::new();
    let queue = start(worker, &gate)?;
    stage.until("the job runs", || gate.starts() == 1).await?;
    let rival = start(others, &gate)?;
    stage.pass(stage.backend.lease() * 3).await;
    ensure!(gate.starts() == 1, "a handler that took three times the lease was started {} times", gate.starts());
    gate.release();
    stage.until("the job is done", || queue.stats().done == 1).await?;

    let worker = stage.connect(&name).await?;
    drop((queue, rival));
    let (starts, (go, wait)) = (Arc::new(AtomicUsize::new(0)), std::sync::mpsc::channel::<()>());
    let wait = Arc::new(parking_lot::Mutex::new(wait));
    let handler = {
        let starts = starts.clone();
        move |_: Job| {
            starts.fetch_add(1, Ordering::SeqCst);
            // The sender's end lets it go, too.
            let _gone = wait.lock().recv();
        }
    };
    stage.publish(&worker, Job::new(2)).await?;
    let queue = Queue::with_worker(Probe::new(worker).0).slots(1).start(blocking(handler));
    let queue = queue.map_err(|error| Stop::Failed(format!("no start: {error}")))?;
    stage.until_by_steps("the blocking job runs", || starts.load(Ordering::SeqCst) == 1).await?;
    stage.pass(stage.backend.lease() * 3).await;
    ensure!(starts.load(Ordering::SeqCst) == 1, "a handler that blocked its thread was started again");
    drop(go);
    stage.until_by_steps("the blocking job is done", || queue.stats().done == 1).await
}

/// C-6: whose lease is lost is told within a beat, and what it answers later counts for nothing.
pub(crate) async fn c_6<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.outlives(&worker)?;
    stage.claims(&worker, Feature::Leases)?;
    stage.publish(&worker, Job::new(1)).await?;
    let told = Arc::new(parking_lot::Mutex::new(None));
    let handler = {
        let told = told.clone();
        move |_: Job, cx: Context| {
            let told = told.clone();
            async move {
                let reason = cx.cancelled().await;
                *told.lock() = Some(reason);
            }
        }
    };
    let queue = Queue::with_worker(Probe::new(worker).0).slots(1).start(handler);
    let queue = queue.map_err(|error| Stop::Failed(format!("no start: {error}")))?;
    stage.until("the job runs", || queue.stats().running == 1).await?;
    stage.inject(Fault::Freeze).await?;
    let other = stage.connect(&name).await?;
    let taken = stage.take(&other).await?;
    stage.inject(Fault::Thaw).await?;
    stage.until("the handler is told that the lease is lost", || told.lock().is_some()).await?;
    stage.settle_ours(&other, taken, Verdict::Ack).await?;
    stage.until("the loser counts it lost", || queue.stats().lost == 1).await?;
    ensure!(queue.stats().done == 0, "the result of a handler that lost its job was counted done");
    Ok(())
}

/// C-7: each delivery of a job has a greater fencing number than all before.
pub(crate) async fn c_7<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.claims(&worker, Feature::Fence)?;
    stage.publish(&worker, Job::new(1)).await?;
    let mut last = None;
    let mut grows = |fence: Option<u64>| {
        let Some(fence) = fence else { return Err(Stop::Failed("a delivery has no fencing number".to_owned())) };
        ensure!(last.is_none_or(|last| fence > last), "a fencing number did not grow: {last:?}, then {fence}");
        last = Some(fence);
        Ok(())
    };
    for verdict in [Verdict::Return { after: Duration::ZERO }, Verdict::Retry { after: Duration::ZERO }] {
        let delivery = stage.take(&worker).await?;
        grows(delivery.receipt.fence())?;
        stage.settle_ours(&worker, delivery, verdict).await?;
    }
    let delivery = stage.take(&worker).await?;
    grows(delivery.receipt.fence())?;
    if outlives(worker.capabilities()) {
        drop((delivery, worker));
        let other = stage.connect(&name).await?;
        grows(stage.take(&other).await?.receipt.fence())?;
    }
    Ok(())
}

/// C-8: three settles in one call, one of them stale: two done, one lost.
pub(crate) async fn c_8<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.outlives(&worker)?;
    stage.claims(&worker, Feature::Leases)?;
    let (mut stale, mut taken, other) = overtaken(stage, &worker, &name, 1).await?;
    stage.publish_many(&worker, 1..3).await?;
    let mut ours = stage.hold(&worker, 2).await?;
    let mut batch: Vec<_> = [ours.remove(0), stale.remove(0), ours.remove(0)]
        .into_iter()
        .map(|delivery| Settling::new(delivery.into(), Verdict::Ack))
        .collect();
    if !worker.settle_now(&mut batch) {
        let answer = stage.within("`settle`", worker.settle(&mut batch)).await?;
        answer.map_err(|error| Stop::Failed(format!("`settle` failed: {error}")))?;
    }
    let answers: Vec<_> = batch.iter().map(Settling::answered).collect();
    let expected = [Settled::Done, Settled::LostOwnership, Settled::Done].map(Some);
    ensure!(answers == expected, "of three settles the second was stale, and the answers were {answers:?}");
    stage.settle_ours(&other, taken.remove(0), Verdict::Ack).await
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
