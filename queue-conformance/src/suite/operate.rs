//! What an operator asks of a queue.

use std::time::Duration;

use queue_core::{Cause, Extra, Feature, Payload, Reason, Verdict, Worker};

use super::stage::{Stage, open, outlives};
use super::{Check, Stop, ensure, failed};
use crate::{Backend, Job};

/// C-42: its counts are the broker's own.
pub(crate) async fn c_42<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.claims(&worker, Feature::Inspects)?;
    let inspector = worker.facets().inspector().ok_or_else(|| Stop::Failed("it claims counts and has none".into()))?;
    stage.publish_many(&worker, 0..100).await?;
    let delays = worker.capabilities().has(Feature::Delays);
    if delays {
        let mut extra = Extra::default();
        extra.delay = Some(Duration::from_secs(600));
        stage.publish_with(&worker, Job::new(100), extra).await?;
    }
    let mut held = stage.hold(&worker, 5).await?;
    let dead = if worker.capabilities().has(Feature::DeadLetters) { 2 } else { 0 };
    for delivery in held.drain(..2) {
        let cause = Box::new(Cause { reason: Reason::Permanent, error: "for good".into() });
        stage.settle_ours(&worker, delivery, Verdict::Dead { cause }).await?;
    }
    let counts = stage.within("`inspect`", inspector.inspect()).await?.map_err(failed("inspect"))?;
    let found = (counts.ready, counts.unsettled, counts.dead);
    ensure!(
        counts.ready == 95 && counts.dead == dead,
        "95 wait and {dead} are dead, and (ready, unsettled, dead) is {found:?}"
    );
    ensure!(counts.waiting == u64::from(delays), "{} wait for their time, one delayed: {delays}", counts.waiting);
    ensure!(
        counts.unsettled.is_none_or(|unsettled| unsettled == 3),
        "3 are held, and (ready, unsettled, dead) is {found:?}"
    );
    if let Some(operator) = stage.backend.operator()
        && let Ok(theirs) = operator.counts(&name).await
    {
        let theirs = (theirs.ready, Some(theirs.unsettled), theirs.dead);
        ensure!(found == theirs, "(ready, unsettled, dead): it counts {found:?}, the broker {theirs:?}");
    }
    Ok(())
}

/// C-46: a waiting job is cancelled by its id and a running one is not; a pause stops new starts in every consumer and is lifted in every consumer.
pub(crate) async fn c_46<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    let can = worker.capabilities().clone();
    if let Some(canceller) = worker.facets().canceller() {
        let running = stage.publish(&worker, Job::new(1)).await?;
        let delivery = stage.take(&worker).await?;
        let cancelled = stage.within("`cancel`", canceller.cancel(running)).await?.map_err(failed("cancel"))?;
        ensure!(cancelled.is_none(), "a job that runs was answered as cancelled");
        stage.settle_ours(&worker, delivery, Verdict::Ack).await?;
        let mut extra = Extra::default();
        if can.has(Feature::Delays) {
            extra.delay = Some(Duration::from_secs(5));
        }
        let waiting = stage.publish_with(&worker, Job::new(2), extra).await?;
        let cancelled = stage.within("`cancel`", canceller.cancel(waiting)).await?.map_err(failed("cancel"))?;
        let (job, _) = cancelled.map_or((None, ()), |payload| (payload.take(false).0.ok(), ()));
        ensure!(job == Some(Job::new(2)), "a job that waits for its time was not cancelled: {job:?}");
        stage.quiet(&worker, Duration::from_secs(7), "a delayed job was cancelled").await?;
    }
    stage.claims(&worker, Feature::Pauses)?;
    let pauser = worker.facets().pauser().ok_or_else(|| Stop::Failed("it claims a pause and has none".into()))?;
    let other = if outlives(&can) { Some(stage.connect(&name).await?) } else { None };
    let other = other.as_ref().unwrap_or(&worker);
    stage.publish_many(&worker, 10..12).await?;
    let running = stage.take(other).await?;
    stage.within("`pause`", pauser.pause()).await?.map_err(failed("pause"))?;
    // All consumers know within 2 s.
    stage.pass(Duration::from_secs(2)).await;
    ensure!(pauser.is_paused().await.map_err(failed("is_paused"))?, "it was paused, and says that it is not");
    stage.quiet(other, Duration::from_secs(3), "the queue is paused everywhere").await?;
    stage.settle_ours(other, running, Verdict::Ack).await?;
    stage.within("`unpause`", pauser.unpause()).await?.map_err(failed("unpause"))?;
    let (job, unsettled) = open(stage.take(other).await?);
    ensure!(job == Ok(Job::new(11)), "after the pause {job:?} came");
    stage.settle_ours(other, unsettled, Verdict::Ack).await
}
