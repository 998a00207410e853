//! What an answer to a publish means.

use std::collections::BTreeSet;
use std::time::Duration;

use queue_core::{Answer, Entry, Extra, JobId, Refusal, Room, Verdict, Worker};
use tokio::time::timeout;

use super::stage::{Stage, number};
use super::{Check, Stop, ensure};
use crate::{AnyCodec, Backend, Fault, Job};

/// The broker refuses so many publishes, or whatever comes, where it cannot count: until [`take_again`].
async fn refuse<B: Backend>(stage: &Stage<'_, B>, count: usize) -> Check {
    match stage.inject(Fault::RefusePublishes(count)).await {
        // A broker that stores nothing refuses, too.
        Err(Stop::Unproven(what)) => stage.inject(Fault::Full).await.map_err(|_| Stop::Unproven(what)),
        done => done,
    }
}

/// The broker takes publishes again.
async fn take_again<B: Backend>(stage: &Stage<'_, B>) -> Check {
    match stage.inject(Fault::RefusePublishes(0)).await {
        Err(Stop::Unproven(_)) => stage.inject(Fault::Roomy).await,
        done => done,
    }
}

/// C-20: accepted means confirmed; refused, unroutable and out of reach mean that nothing was done, and the job is back.
pub(crate) async fn c_20<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.outlives(&worker)?;
    let accepted = stage.publish(&worker, Job::new(1)).await?;
    refuse(stage, 1).await?;
    let mut extra = Extra::default();
    extra.headers.set("tenant", "north");
    let entry = stage.send(&worker, Entry::with_extra(Job::new(2), extra)).await?;
    ensure!(
        matches!(entry.answer(), Answer::Refused(_)),
        "a publish that the broker refused was answered {:?}",
        entry.answer()
    );
    ensure!(entry.job() == Some(&Job::new(2)), "a refused publish did not give its job back");
    let header = entry.extra().and_then(|extra| extra.headers.get("tenant"));
    ensure!(header == Some(b"north"), "a refused publish gave its job back without its headers");
    take_again(stage).await?;

    stage.inject(Fault::Down).await?;
    let mut entry = [Entry::new(Job::new(3))];
    let answer = timeout(Duration::from_secs(5), worker.queue(&mut entry, Room::Wait)).await;
    ensure!(entry[0].accepted().is_none(), "a publish was accepted while the broker was away: {answer:?}");
    ensure!(entry[0].job() == Some(&Job::new(3)), "a publish that found no broker did not give its job back");
    stage.inject(Fault::Up).await?;

    // Its producer may die at once: what was accepted is at the broker.
    drop(worker);
    let other = stage.connect(&name).await?;
    let delivery = stage.take(&other).await?;
    ensure!(delivery.meta.id == accepted, "the accepted job did not come, another did");
    stage.settle_ours(&other, delivery, Verdict::Ack).await?;
    let rest = stage.drain(&other, Duration::from_secs(2)).await?;
    ensure!(!rest.contains(&2), "a job was refused, and came");

    match stage.inject(Fault::Delete(&name)).await {
        Err(Stop::Unproven(_)) => return Ok(()),
        done => done?,
    }
    let mut entry = [Entry::new(Job::new(4))];
    drop(timeout(stage.patience(), other.queue(&mut entry, Room::Wait)).await);
    if let Some(id) = entry[0].accepted() {
        // It made the queue anew: then the job is there.
        let delivery = stage.take(&other).await?;
        ensure!(delivery.meta.id == id, "a publish to a deleted queue was accepted, and the job is nowhere");
    }
    Ok(())
}

/// C-21: a publish whose confirmation is lost ends as unconfirmed within its deadline, and is the same job when it is sent again.
pub(crate) async fn c_21<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, _) = stage.fresh().await?;
    let mut again = Extra::default();
    again.id = Some(JobId::from(0x0123_4567_89ab_cdef));
    let id = stage.publish_with(&worker, Job::new(0), again).await?;
    let delivery = stage.take(&worker).await?;
    let came = delivery.meta.id;
    ensure!(
        (id, came) == (JobId::from(0x0123_4567_89ab_cdef), id),
        "sent under an id of its own, a job was answered {id} and came as {came}"
    );
    stage.settle_ours(&worker, delivery, Verdict::Ack).await?;
    stage.outlives(&worker)?;
    stage.inject(Fault::LoseConfirms(1)).await?;
    let mut entry = stage.send(&worker, Entry::new(Job::new(1))).await?;
    let Answer::Unconfirmed(id) = *entry.answer() else {
        return Err(Stop::Failed(format!("a publish whose confirmation was lost was answered {:?}", entry.answer())));
    };
    ensure!(entry.job() == Some(&Job::new(1)), "an unconfirmed publish did not leave its job");
    entry.reopen();
    let entry = stage.send(&worker, entry).await?;
    ensure!(entry.accepted() == Some(id), "unconfirmed as {id} and sent again, it was answered {:?}", entry.answer());
    let mut ids = BTreeSet::new();
    while let Ok(Ok(mut got)) = timeout(Duration::from_secs(2), stage.take_up_to(&worker, 1)).await {
        let delivery = got.remove(0);
        ids.extend(delivery.as_ref().map(|delivery| delivery.meta.id));
        if let Some(delivery) = delivery {
            stage.settle_ours(&worker, delivery, Verdict::Ack).await?;
        }
    }
    ensure!(ids == BTreeSet::from([id]), "a job that was sent again came under the ids {ids:?}");

    // A call that is dropped before its confirmation says that the broker may have the job.
    stage.inject(Fault::LoseConfirms(1)).await?;
    let mut entry = [Entry::new(Job::new(2))];
    drop(timeout(Duration::from_millis(500), worker.queue(&mut entry, Room::Wait)).await);
    stage.inject(Fault::LoseConfirms(0)).await?;
    let came = stage.drain(&worker, Duration::from_secs(2)).await?;
    ensure!(
        !entry[0].is_open() || came.is_empty(),
        "a publish was dropped half way, answered `Open`, and its job came"
    );
    Ok(())
}

/// C-22: of a batch of publishes exactly the refused ones come back.
pub(crate) async fn c_22<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, _) = stage.fresh().await?;
    skips_what_is_answered(stage, &worker).await?;
    stage.outlives(&worker)?;
    refuse(stage, 2).await?;
    let mut entries: Vec<Entry<Job>> = (0..5).map(|number| Entry::new(Job::new(number))).collect();
    stage.send_all(&worker, &mut entries).await?;
    take_again(stage).await?;
    let accepted: BTreeSet<JobId> = entries.iter().filter_map(Entry::accepted).collect();
    let refused: BTreeSet<u64> = entries.iter().filter_map(|entry| entry.job().map(|job| job.number)).collect();
    ensure!(
        accepted.len() + refused.len() == 5,
        "of 5 publishes {} were accepted and {} came back",
        accepted.len(),
        refused.len()
    );
    ensure!(!refused.is_empty(), "the broker refused publishes of a batch, and all were answered accepted");
    let came: BTreeSet<u64> = stage.drain(&worker, Duration::from_secs(2)).await?.into_iter().collect();
    let expected: BTreeSet<u64> = (0..5).filter(|number| !refused.contains(number)).collect();
    ensure!(came == expected, "of a batch the jobs {refused:?} came back refused, and {came:?} were handed out");
    Ok(())
}

/// Only open entries are sent and counted; a batch of none is fine.
async fn skips_what_is_answered<B: Backend>(stage: &Stage<'_, B>, worker: &B::Worker) -> Check {
    stage.send_all(worker, &mut []).await?;
    let before = worker.tally().accepted;
    let mut entries: Vec<Entry<Job>> = (0..4).map(|number| Entry::new(Job::new(number))).collect();
    entries[1].refuse(Refusal::Full);
    entries[2].unconfirmed(JobId::from(77));
    for call in ["the first", "a second"] {
        stage.send_all(worker, &mut entries).await?;
        let answers: Vec<&Answer> = entries.iter().map(Entry::answer).collect();
        ensure!(
            matches!(
                answers[..],
                [Answer::Accepted(_), Answer::Refused(Refusal::Full), Answer::Unconfirmed(_), Answer::Accepted(_)]
            ),
            "of four entries the middle ones were answered before, and after {call} call they all are {answers:?}"
        );
    }
    let accepted = worker.tally().accepted - before;
    ensure!(accepted == 2, "two jobs were accepted, and the tally counts {accepted}");
    let came = stage.drain(worker, Duration::from_secs(1)).await?;
    ensure!(came == [0, 3], "of four entries the first and the last were open, and the jobs {came:?} came");
    Ok(())
}

/// C-23: a body above the limit is refused with its job before anything is sent; one at the limit is taken.
pub(crate) async fn c_23<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let worker = stage.connect_with(&stage.name(), AnyCodec::Raw).await?;
    let Some(limit) = worker.capabilities().max_body else {
        return Err(Stop::skip("it names no limit of a body".to_owned()));
    };
    let above = Job::raw(vec![7; limit + 1]);
    let entry = stage.send(&worker, Entry::new(above.clone())).await?;
    ensure!(
        matches!(entry.answer(), Answer::Refused(Refusal::TooLarge { limit: told }) if *told == limit),
        "a body of one byte above the limit of {limit} was answered {:?}",
        entry.answer()
    );
    ensure!(entry.job() == Some(&above), "a body above the limit did not come back as it was");
    let at = Job::raw(vec![7; limit]);
    let id = stage.publish(&worker, at).await?;
    let delivery = stage.take(&worker).await?;
    ensure!(delivery.meta.id == id, "another job than that at the limit came");
    let (job, unsettled) = super::stage::open(delivery);
    let bytes = job.map_or(0, |job| job.bytes.len());
    ensure!(bytes == limit, "a body of {limit} bytes came back with {bytes}");
    stage.settle_ours(&worker, unsettled, Verdict::Ack).await?;
    stage.publish(&worker, Job::raw(*b"next")).await?;
    let next = stage.take(&worker).await?;
    ensure!(number(next) == 0, "after a body above the limit the worker did not go on");
    Ok(())
}
