//! Ownership: of two consumers that have a job one may settle it, and the other is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use queue::{Context, Queue, blocking};
use queue_core::{Feature, Receipt, Settled, Settling, Verdict, Worker};

use super::gate::{Gate, start};
use super::probe::Probe;
use super::stage::{Stage, number, outlives};
use super::{Check, Stop, ensure};
use crate::{Backend, Fault, Job};

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
