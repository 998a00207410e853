//! How a worker begins, shares its connection, and ends.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use queue::{HealthState, Queue};
use queue_core::{Answer, Demand, Entry, Refusal, RequestError, Verdict, Worker};
use tokio::time::timeout;

use super::probe::Probe;
use super::stage::{Stage, number, outlives};
use super::{Check, Stop, ensure, failed};
use crate::{Backend, Fault, Job};

/// C-36: closing ends a request that waits; shut down twice it is still fine; then a publish is closed, with its job, and so is a request.
pub(crate) async fn c_36<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, _) = stage.fresh().await?;
    stage.publish(&worker, Job::new(1)).await?;
    let delivery = stage.take(&worker).await?;
    stage.settle_ours(&worker, delivery, Verdict::Ack).await?;
    wakes_who_waits(stage).await?;
    ends_its_intake(stage, &worker).await?;
    stage.shutdown(&worker).await?;
    stage.shutdown(&worker).await?;
    let entry = stage.send(&worker, Entry::new(Job::new(2))).await?;
    ensure!(
        matches!(entry.answer(), Answer::Refused(Refusal::Closed)),
        "a publish after the end was answered {:?}",
        entry.answer()
    );
    ensure!(entry.job() == Some(&Job::new(2)), "a publish after the end did not give its job back");
    ensure!(worker.try_one(Job::new(3)).is_err(), "`try_one` took a job after the end");
    let mut got = VecDeque::new();
    let answer = stage.within("`request` after the end", worker.request(1, &mut got)).await?;
    ensure!(matches!(answer, Err(RequestError::Closed)), "a request after the end was answered {answer:?}");
    Ok(())
}

/// Closing ends a request that waits.
async fn wakes_who_waits<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, _) = stage.fresh().await?;
    let mut got = VecDeque::new();
    let waits = worker.request(1, &mut got);
    let closes = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        worker.close();
    };
    let (answer, ()) =
        stage.within("a request that waited when the worker was closed", async { tokio::join!(waits, closes) }).await?;
    ensure!(matches!(answer, Err(RequestError::Closed)), "a request that waited at `close` was answered {answer:?}");
    Ok(())
}

/// Closed it takes no jobs, and hands out what it has here: all, where they die with the process, else what it had fetched.
async fn ends_its_intake<B: Backend>(stage: &Stage<'_, B>, worker: &B::Worker) -> Check {
    const JOBS: usize = 20;
    stage.publish_many(worker, 0..JOBS as u64).await?;
    worker.close();
    let entry = stage.send(worker, Entry::new(Job::new(2))).await?;
    let closed = matches!(entry.answer(), Answer::Refused(Refusal::Closed));
    ensure!(closed, "a publish after `close` was answered {:?}", entry.answer());
    let mut came = 0;
    loop {
        let mut got = VecDeque::new();
        match stage.within("`request` after `close`", worker.request(1, &mut got)).await? {
            Err(RequestError::Closed) => break,
            Err(error) => return Err(Stop::Failed(format!("`request` after `close` failed: {error}"))),
            Ok(()) => came += got.len(),
        }
        for delivery in got {
            stage.settle_ours(worker, delivery, Verdict::Ack).await?;
        }
        ensure!(came <= JOBS, "{came} jobs came after `close`, of {JOBS}");
    }
    let fetched = if outlives(worker.capabilities()) { 0..JOBS } else { JOBS..JOBS + 1 };
    ensure!(fetched.contains(&came), "{JOBS} jobs waited at `close`, and {came} of them were handed out");
    Ok(())
}

/// C-44: ten queues over one connection: no ten connections, and closing one leaves the others.
pub(crate) async fn c_44<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, _) = stage.fresh().await?;
    stage.outlives(&worker)?;
    drop(worker);
    let operator = stage.operator()?;
    let count =
        || async { operator.connections().await.map_err(|_| Stop::Unproven("`Operator::connections`".to_owned())) };
    let names: Vec<String> = (0..10).map(|_| stage.name()).collect();
    let before = count().await?;
    let Some(workers) = stage.within("`connect_many`", stage.backend.connect_many(&names)).await? else {
        return Err(Stop::Unproven("`Backend::connect_many`".to_owned()));
    };
    let workers = workers.map_err(failed("connect_many"))?;
    for worker in &workers {
        worker.demand(Demand::of(1));
        stage.publish(worker, Job::new(1)).await?;
        let delivery = stage.take(worker).await?;
        stage.settle_ours(worker, delivery, Verdict::Ack).await?;
    }
    let made = count().await?.saturating_sub(before);
    // A reader each where the protocol blocks a connection, and a command connection; else the one, and one to spare.
    let allowed = if stage.backend.readers_block() { 1 + names.len() } else { 2 };
    ensure!(made <= allowed, "ten queues over one `connect` made {made} connections");
    stage.measure(format!("{made} connections for ten queues"));
    stage.shutdown(&workers[0]).await?;
    for worker in &workers[1..] {
        stage.publish(worker, Job::new(2)).await?;
        let delivery = stage.take(worker).await?;
        ensure!(number(delivery) == 2, "after another queue of its connection was closed, another job came");
    }
    Ok(())
}

/// C-45: made while its broker is away it waits for it: health says so, and the first job runs once the broker is there.
pub(crate) async fn c_45<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.outlives(&worker)?;
    drop(worker);
    stage.inject(Fault::Down).await?;
    let Some(lazy) = stage.backend.connect_lazy(&name) else {
        return Err(Stop::Unproven("`Backend::connect_lazy`".to_owned()));
    };
    let done = Arc::new(AtomicU64::new(0));
    let counted = done.clone();
    let handler = move |job: Job| {
        counted.fetch_add(job.number, Ordering::SeqCst);
        std::future::ready(())
    };
    let queue = Queue::with_worker(Probe::new(lazy).0).slots(1).start(handler);
    let queue = queue.map_err(|error| Stop::Failed(format!("without its broker the queue did not start: {error}")))?;
    stage.pass(Duration::from_secs(1)).await;
    let state = queue.health().state;
    ensure!(state != HealthState::Consuming, "the broker is away, and health says {}", state.name());
    stage.inject(Fault::Up).await?;
    let enqueued = timeout(stage.patience(), async {
        while queue.enqueue(Job::new(7)).await.is_err() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    ensure!(enqueued.await.is_ok(), "the broker came back, and no job could be enqueued");
    stage.until("the first job runs once the broker is there", || done.load(Ordering::SeqCst) >= 7).await
}
