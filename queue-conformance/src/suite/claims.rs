//! What a worker says of itself, and whether it is so.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use queue::{HealthState, Queue};
use queue_core::{
    Answer, Capabilities, Cause, Demand, Entry, Extra, Feature, Order, Page, Payload, Reason, Receipt, Refusal,
    RequestError, Room, Tier, Verdict, Worker,
};
use tokio::time::timeout;

use super::probe::Probe;
use super::stage::{Stage, number, open, outlives};
use super::{Check, Stop, ensure};
use crate::{Backend, Fault, Job};

fn failed(call: &str) -> impl Fn(queue_core::WorkerError) -> Stop + '_ {
    move |error| Stop::Failed(format!("`{call}` failed: {error}"))
}

/// C-30: what one producer published comes to one slot in its order, where the table says so.
pub(crate) async fn c_30<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, _) = stage.fresh().await?;
    if worker.capabilities().order != Order::Queue {
        return Err(Stop::skip(format!("its order is that of {:?}", worker.capabilities().order)));
    }
    for chunk in 0..10 {
        stage.publish_many(&worker, chunk * 20..(chunk + 1) * 20).await?;
    }
    // Half of them by tens, the rest one by one.
    let (mut came, mut demand) = (Vec::new(), Demand::of(1));
    demand.each = 10;
    worker.demand(demand);
    while came.len() < 100 {
        for delivery in stage.take_up_to(&worker, 10).await? {
            let (job, unsettled) = open(delivery);
            came.push(job.map_or(u64::MAX, |job| job.number));
            stage.settle_ours(&worker, unsettled, Verdict::Ack).await?;
        }
    }
    came.extend(stage.drain(&worker, Duration::from_secs(1)).await?);
    let first = came.iter().zip(0..).find(|(came, at)| **came != *at);
    ensure!(
        first.is_none() && came.len() == 200,
        "in order it should be, and (came, expected) is {first:?} of {}",
        came.len()
    );
    Ok(())
}

/// C-31: each capability that it claims is there; nothing is volatile unless it was asked for.
pub(crate) async fn c_31<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, _) = stage.fresh().await?;
    let can = worker.capabilities().clone();
    for feature in Feature::ALL {
        ensure!(
            can.tier(feature) != Tier::EmulatedVolatile,
            "{feature} is volatile, and nobody asked for that by name"
        );
    }
    ensure!(can.share >= 1, "a slot that may take nothing ahead of itself takes nothing");
    let facets = worker.facets();
    let there = [
        (Feature::Inspects, facets.inspector().is_some()),
        (Feature::DeadLetters, facets.letters().is_some()),
        (Feature::Cancels, facets.canceller().is_some()),
        (Feature::Pauses, facets.pauser().is_some()),
    ];
    for (feature, there) in there {
        ensure!(can.has(feature) == there, "it claims {feature}: {}, and has it: {there}", can.has(feature));
    }
    if can.has(Feature::Priorities) {
        for (number, priority) in [(0, 0), (1, 9), (2, 5)] {
            let mut extra = Extra::default();
            extra.priority = priority;
            stage.publish_with(&worker, Job::new(number), extra).await?;
        }
        let came = stage.drain(&worker, Duration::from_secs(1)).await?;
        ensure!(came == [1, 2, 0], "it claims priorities, and handed out {came:?} where 1, 2, 0 are due");
    }
    if can.has(Feature::Leases) || can.has(Feature::Fence) {
        stage.publish(&worker, Job::new(3)).await?;
        let delivery = stage.take(&worker).await?;
        ensure!(
            !can.has(Feature::Leases) || delivery.receipt.ownership().is_some(),
            "leases, and no token to tell a loss by"
        );
        ensure!(
            !can.has(Feature::Fence) || delivery.receipt.fence().is_some(),
            "a fencing number is claimed and not there"
        );
        stage.settle_ours(&worker, delivery, Verdict::Ack).await?;
    }
    if let Some(canceller) = facets.canceller() {
        let id = stage.publish(&worker, Job::new(4)).await?;
        let cancelled = stage.within("`cancel`", canceller.cancel(id)).await?.map_err(failed("cancel"))?;
        let job = cancelled.map(|payload| payload.take(false).0);
        ensure!(job == Some(Ok(Job::new(4))), "it claims to cancel by id, and a waiting job was not given back");
        stage.quiet(&worker, Duration::from_secs(1), "a job was cancelled").await?;
    }
    if let Some(letters) = facets.letters() {
        stage.publish(&worker, Job::new(5)).await?;
        let delivery = stage.take(&worker).await?;
        let cause = Cause { reason: Reason::NoHandler, error: "nobody reads `spam`".into() };
        stage.settle_ours(&worker, delivery, Verdict::Dead { cause: Box::new(cause.clone()) }).await?;
        let listed = stage.within("`dead_letters`", letters.dead_letters(Page::first(10))).await?;
        let causes: Vec<Cause> = listed.map_err(failed("dead_letters"))?.into_iter().map(|it| it.cause).collect();
        ensure!(causes == [cause], "a dead letter was written, and the list has {causes:?}");
    }
    Ok(())
}

/// C-32: what it does not claim is refused by name, never taken and ignored; types and values say the same.
pub(crate) async fn c_32<B: Backend>(stage: &Stage<'_, B>) -> Check {
    type Asks = (Feature, fn(&mut Extra));
    let (worker, _) = stage.fresh().await?;
    let can = worker.capabilities().clone();
    let asks: [Asks; 3] = [
        (Feature::Delays, |extra| extra.delay = Some(Duration::from_secs(60))),
        (Feature::Priorities, |extra| extra.priority = 3),
        (Feature::JobOptions, |extra| extra.timeout = Some(Duration::from_secs(1))),
    ];
    for (feature, ask) in asks {
        let mut extra = Extra::default();
        ask(&mut extra);
        let entry = stage.send(&worker, Entry::with_extra(Job::new(1), extra)).await?;
        let refused = matches!(entry.answer(), Answer::Refused(Refusal::Unsupported(named)) if *named == feature);
        ensure!(
            refused || can.has(feature),
            "without {feature}, a job that asks for it was answered {:?}",
            entry.answer()
        );
        ensure!(!refused || !can.has(feature), "{feature} is claimed, and a job that asks for it was refused");
    }
    let Some(crate::Markers(markers)) = stage.backend.markers() else { return Ok(()) };
    let features = [
        Feature::Retries,
        Feature::Delays,
        Feature::Priorities,
        Feature::Leases,
        Feature::DeadLetters,
        Feature::Inspects,
        Feature::Cancels,
        Feature::Pauses,
    ];
    for (feature, marked) in features.into_iter().zip(markers) {
        // A type may promise what the server then lacks, never the reverse.
        ensure!(marked || !can.has(feature), "{feature} is claimed, and the worker's type does not implement it");
    }
    Ok(())
}

/// C-33: the table is probed: another server, another table.
pub(crate) async fn c_33<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, _) = stage.fresh().await?;
    stage.outlives(&worker)?;
    let sibling = stage.backend.sibling().ok_or_else(|| Stop::Unproven("`Backend::sibling`".to_owned()))?;
    let other = sibling.connect(&stage.name(), crate::AnyCodec::default()).await.map_err(failed("connect"))?;
    let table =
        |can: &Capabilities| (can.durability, can.server.clone(), Feature::ALL.map(|feature| can.tier(feature)));
    let (ours, theirs) = (table(worker.capabilities()), table(other.capabilities()));
    ensure!(ours != theirs, "two servers with other settings, and the same table");
    ensure!(worker.capabilities().server.is_some(), "the table does not name the broker's version");
    Ok(())
}

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

/// C-37: behind its erased type it is the same worker.
pub(crate) async fn c_37<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (typed, name) = stage.fresh().await?;
    let boxed = stage.connect(&name).await?.boxed();
    let tiers = |can: &Capabilities| Feature::ALL.map(|feature| can.tier(feature));
    ensure!(
        tiers(typed.capabilities()) == tiers(boxed.capabilities()),
        "behind its erased type it claims something else"
    );
    let (direct, erased) = (typed.facets(), boxed.facets());
    let both = [
        ("counts", direct.inspector().is_some(), erased.inspector().is_some()),
        ("dead letters", direct.letters().is_some(), erased.letters().is_some()),
        ("cancel", direct.canceller().is_some(), erased.canceller().is_some()),
        ("pause", direct.pauser().is_some(), erased.pauser().is_some()),
    ];
    for (what, direct, erased) in both {
        ensure!(direct == erased, "{what}: there is {direct}, behind the erased type {erased}");
    }
    let mut extra = Extra::default();
    extra.headers.set("tenant", "north");
    let mut entry = [Entry::with_extra(Job::new(1), extra)];
    let answer = stage.within("`queue`", boxed.queue(&mut entry, Room::Wait)).await?;
    answer.map_err(failed("queue"))?;
    let id = entry[0].accepted();
    boxed.demand(Demand::of(1));
    let mut got = VecDeque::new();
    let answer = stage.within("`request`", boxed.request(1, &mut got)).await?;
    answer.map_err(|error| Stop::Failed(format!("`request` failed: {error}")))?;
    let Some(delivery) = got.pop_front() else { return Err(Stop::Failed("no delivery".to_owned())) };
    ensure!(Some(delivery.meta.id) == id, "behind the erased type another id came");
    let header = delivery.meta.extra.as_ref().and_then(|extra| extra.headers.get("tenant"));
    ensure!(header == Some(b"north"), "behind the erased type a header is lost");
    let can = typed.capabilities();
    ensure!(
        delivery.receipt.fence().is_some() == can.has(Feature::Fence),
        "behind the erased type the fencing number is lost"
    );
    ensure!(
        delivery.receipt.ownership().is_some() || !can.has(Feature::Leases),
        "behind the erased type the token is lost"
    );
    ensure!(number(delivery) == 1, "behind the erased type another job came");
    Ok(())
}

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
    let after = count().await?;
    // One blocking reader each is allowed where the protocol blocks a connection, and not a second one.
    ensure!(after - before <= 1 + names.len(), "ten queues over one `connect` made {} connections", after - before);
    stage.measure(format!("{} connections for ten queues", after - before));
    let readers = after - before > 2;
    ensure!(
        !readers || blocking_readers(&workers[0]),
        "ten queues over one `connect` made {} connections",
        after - before
    );
    stage.shutdown(&workers[0]).await?;
    for worker in &workers[1..] {
        stage.publish(worker, Job::new(2)).await?;
        let delivery = stage.take(worker).await?;
        ensure!(number(delivery) == 2, "after another queue of its connection was closed, another job came");
    }
    Ok(())
}

/// Redis blocks a connection for each reader.
fn blocking_readers<W: Worker>(worker: &W) -> bool {
    worker.capabilities().backend == "redis"
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
