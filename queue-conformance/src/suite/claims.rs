//! What a worker says of itself, and whether it is so.

use std::collections::VecDeque;
use std::time::Duration;

use queue_core::{
    Answer, Capabilities, Cause, Demand, Entry, Extra, Feature, Order, Page, Payload, Reason, Receipt, Refusal, Room,
    Tier, Verdict, Worker,
};

use super::stage::{Stage, number, open};
use super::{Check, Stop, ensure, failed};
use crate::{Backend, Job};

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
