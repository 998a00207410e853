//! Jobs that wait for their time.

use std::time::Duration;

use queue_core::{Extra, Feature, Verdict, Worker};
use tokio::time::Instant;

use super::stage::{Stage, durable};
use super::{Check, Stop, ensure};
use crate::{Backend, Fault, Job};

fn after(delay: Duration) -> Extra {
    let mut extra = Extra::default();
    extra.delay = Some(delay);
    extra
}

/// C-17: a delay of twice the lease is delivered once, also where its producer dies and the broker restarts meanwhile.
pub(crate) async fn c_17<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (mut worker, name) = stage.fresh().await?;
    stage.claims(&worker, Feature::Delays)?;
    let (delay, asked) = (stage.backend.lease() * 2, Instant::now());
    stage.publish_with(&worker, Job::new(1), after(delay)).await?;
    if durable(worker.capabilities(), Feature::Delays) {
        let restarts = worker.capabilities().durability >= queue_core::Durability::Restart;
        drop(worker);
        if restarts {
            stage.inject(Fault::Restart).await?;
        }
        worker = stage.connect(&name).await?;
    }
    let delivery = stage.take(&worker).await?;
    ensure!(asked.elapsed() >= delay, "a job delayed by {delay:?} came after {:?}", asked.elapsed());
    ensure!(delivery.meta.attempt == 1, "a delayed job came as attempt {}", delivery.meta.attempt);
    stage.settle_ours(&worker, delivery, Verdict::Ack).await?;
    stage.quiet(&worker, stage.backend.lease(), "a delayed job was done").await
}

/// C-18: delays of 1, 5 and 30 s are never early; how late they are is measured.
pub(crate) async fn c_18<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, _) = stage.fresh().await?;
    stage.claims(&worker, Feature::Delays)?;
    let asked = Instant::now();
    let delays = [30, 5, 1].map(Duration::from_secs);
    for delay in delays {
        stage.publish_with(&worker, Job::new(delay.as_secs()), after(delay)).await?;
    }
    for delay in delays.iter().rev() {
        let delivery = stage.take(&worker).await?;
        let (job, unsettled) = super::stage::open(delivery);
        let number = job.map_or(0, |job| job.number);
        ensure!(number == delay.as_secs(), "the job delayed by {number} s came where that of {delay:?} was due");
        let late = asked.elapsed().checked_sub(*delay);
        let Some(late) = late else {
            return Err(Stop::Failed(format!("a job delayed by {delay:?} came after {:?}", asked.elapsed())));
        };
        stage.measure(format!("{delay:?} late by {late:?}"));
        stage.settle_ours(&worker, unsettled, Verdict::Ack).await?;
    }
    Ok(())
}
