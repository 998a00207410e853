//! What is on the wire: bodies, metadata, names.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use queue::Queue;
use queue_core::wire::{self, Pairs};
use queue_core::{Codec, Extra, JobId, Reason, Verdict, Worker};
use tokio::time::Instant;

use super::probe::Probe;
use super::stage::{Stage, open};
use super::{Check, Stop, ensure};
use crate::{AnyCodec, Backend, Job, NotOffered, RawMessage};

fn json(job: &Job) -> Result<Bytes, Stop> {
    let mut body = Vec::new();
    AnyCodec::default().encode(job, &mut body).map_err(|error| Stop::Failed(error.to_string()))?;
    Ok(body.into())
}

fn bare(body: impl Into<Bytes>) -> RawMessage {
    RawMessage { body: body.into(), pairs: Pairs::new() }
}

fn pair(name: &str, value: impl Into<Bytes>) -> (Box<str>, Bytes) {
    (name.into(), value.into())
}

fn offered<T>(what: &str, answer: Result<T, NotOffered>) -> Result<T, Stop> {
    answer.map_err(|_| Stop::Unproven(format!("`Operator::{what}`")))
}

/// C-24: what is no job reaches no handler: its dead letter has the same bytes and the reason, and the next job runs.
pub(crate) async fn c_24<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.outlives(&worker)?;
    let operator = stage.operator()?;
    let most = worker.capabilities().max_body.unwrap_or(16 << 20).min(16 << 20);
    // A pattern without a meaning: a linear congruential generator (Knuth, MMIX).
    let mut seed = 1_u64;
    let noise = |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed.to_le_bytes()[7]
    };
    let garbage: [Bytes; 5] = [
        Bytes::new(),
        Bytes::from_static(b"{\"number\":"),
        Bytes::from_static(&[0xff, 0x00, 0xfe]),
        Bytes::from((0..most).map(noise).collect::<Vec<u8>>()),
        Bytes::from(b"[".repeat(100_000)),
    ];
    for body in &garbage {
        offered("publish", operator.publish(&name, bare(body.clone())).await)?;
    }
    stage.publish(&worker, Job::new(1)).await?;
    let ran = Arc::new(Mutex::new(Vec::new()));
    let seen = ran.clone();
    let handler = move |job: Job| {
        seen.lock().push(job.number);
        std::future::ready(())
    };
    let queue = Queue::with_worker(Probe::new(worker).0).slots(1).start(handler);
    let queue = queue.map_err(|error| Stop::Failed(format!("no start: {error}")))?;
    // In whatever order: the good job need not be the last.
    let ended = || queue.stats().done + queue.stats().dead;
    stage.until("5 bodies that are no jobs, and a good one, have ended", || ended() >= 6).await?;
    ensure!(*ran.lock() == [1], "handlers got jobs that nobody sent: {:?}", ran.lock());
    ensure!(queue.stats().dead == 5, "of 5 bodies that are no jobs {} are dead", queue.stats().dead);
    let dead = offered("dead", operator.dead(&name).await)?;
    for body in &garbage {
        let letter = dead.iter().find(|letter| letter.body == *body);
        let Some(letter) = letter else {
            return Err(Stop::Failed(format!("no dead letter has the {} bytes of a broken body", body.len())));
        };
        let reason = letter.pairs.iter().find(|(name, _)| &**name == wire::REASON).map(|(_, value)| value.clone());
        ensure!(
            reason.as_deref() == Some(Reason::Undecodable.as_str().as_bytes()),
            "the dead letter of a broken body says {reason:?}"
        );
    }
    Ok(())
}

/// C-25: a bare body of another program is handled: attempt 1, and an id that stays.
pub(crate) async fn c_25<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.outlives(&worker)?;
    let operator = stage.operator()?;
    offered("publish", operator.publish(&name, bare(json(&Job::new(7))?)).await)?;
    let delivery = stage.take(&worker).await?;
    ensure!(delivery.meta.attempt == 1, "a bare message came as attempt {}", delivery.meta.attempt);
    let id = delivery.meta.id;
    stage.settle_ours(&worker, delivery, Verdict::Return { after: Duration::ZERO }).await?;
    let delivery = stage.take(&worker).await?;
    ensure!(delivery.meta.id == id, "a bare message has another id in each delivery");
    let (job, unsettled) = open(delivery);
    ensure!(job.as_ref() == Ok(&Job::new(7)), "a bare message was read as {job:?}");
    stage.settle_ours(&worker, unsettled, Verdict::Ack).await?;
    offered("publish", operator.publish(&name, bare(json(&Job::new(8))?)).await)?;
    let other = stage.take(&worker).await?;
    ensure!(other.meta.id != id, "two bare messages have the same id");
    Ok(())
}

/// C-26: the body on the wire is the codec's bytes; id and format version stand beside it; a newer version or an unknown content type is a dead letter that says so.
pub(crate) async fn c_26<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, name) = stage.fresh().await?;
    stage.outlives(&worker)?;
    let operator = stage.operator()?;
    let id = stage.publish(&worker, Job::new(1)).await?;
    let waiting = offered("waiting", operator.waiting(&name).await)?;
    let [message] = &waiting[..] else {
        return Err(Stop::Failed(format!("one job waits, and the broker shows {}", waiting.len())));
    };
    ensure!(message.body == json(&Job::new(1))?, "the body on the wire is not the codec's bytes");
    for (name, expected) in [(wire::ID, id.to_string()), (wire::VERSION, "1".to_owned())] {
        let found = message.pairs.iter().find(|(n, _)| &**n == name).map(|(_, value)| value.clone());
        ensure!(found.as_deref() == Some(expected.as_bytes()), "`{name}` on the wire is {found:?}, not {expected}");
    }
    let delivery = stage.take(&worker).await?;
    stage.settle_ours(&worker, delivery, Verdict::Ack).await?;
    let strange = [(pair(wire::VERSION, "2"), "version 2"), (pair(wire::CONTENT_TYPE, "text/strange"), "text/strange")];
    for (pair, named) in strange {
        let message = RawMessage { body: json(&Job::new(2))?, pairs: vec![pair] };
        offered("publish", operator.publish(&name, message).await)?;
        let (job, unsettled) = open(stage.take(&worker).await?);
        let Err(why) = job else { return Err(Stop::Failed(format!("a message of {named} was read as a job"))) };
        ensure!(why.to_string().contains(named), "a message of {named} is undecodable for another reason: {why}");
        stage.settle_ours(&worker, unsettled, Verdict::Ack).await?;
    }
    Ok(())
}

/// C-27: bodies and headers of every kind come back as they went.
pub(crate) async fn c_27<B: Backend>(stage: &Stage<'_, B>) -> Check {
    const HOUR: Duration = Duration::from_secs(3_600);
    let worker = stage.connect_with(&stage.name(), AnyCodec::Raw).await?;
    let most = worker.capabilities().max_body.unwrap_or(1 << 20).min(1 << 20);
    for body in [vec![], vec![0xff], vec![0; 3], vec![b'x'; most], "grüße, 世界".into()] {
        let job = Job::raw(body);
        stage.publish(&worker, job.clone()).await?;
        let (came, unsettled) = open(stage.take(&worker).await?);
        ensure!(came.as_ref() == Ok(&job), "a body of {} bytes came back as {came:?}", job.bytes.len());
        stage.settle_ours(&worker, unsettled, Verdict::Ack).await?;
    }
    let headers: [(&str, &[u8]); 5] = [
        ("tenant", b"north"),
        ("x-unicode", "grüße, 世界".as_bytes()),
        ("x-binary", &[0xff, 0x00, 0x80, 0x0a]),
        ("x-empty", b""),
        ("traceparent", b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ];
    let mut extra = Extra::default();
    for (name, value) in headers {
        extra.headers.set(name, value.to_vec());
    }
    extra.headers.set("x-long", vec![b'y'; 4_000]);
    extra.deadline = Some(Instant::now() + HOUR);
    stage.publish_with(&worker, Job::raw(*b"headers"), extra).await?;
    let delivery = stage.take(&worker).await?;
    let came = delivery.meta.extra.as_ref().map(|extra| extra.headers.clone()).unwrap_or_default();
    for (name, value) in headers {
        ensure!(came.get(name) == Some(value), "the header `{name}` came back as {:?}", came.get(name));
    }
    ensure!(came.get("x-long").is_some_and(|long| long.len() == 4_000), "a header of 4,000 bytes did not come back");
    let left = delivery.meta.extra.as_ref().and_then(|extra| extra.deadline).map(|at| at - Instant::now());
    ensure!(
        left.is_some_and(|left| left.abs_diff(HOUR) < Duration::from_secs(60)),
        "a deadline in an hour came back as {left:?} from now"
    );
    ensure!(came.len() == 6, "6 headers were sent, and {} came", came.len());
    stage.settle_ours(&worker, delivery, Verdict::Ack).await
}

/// C-28: each codec reads what it wrote, and nothing that another one wrote.
pub(crate) async fn c_28<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let (worker, _) = stage.fresh().await?;
    stage.outlives(&worker)?;
    let job = Job { number: u64::MAX - 1, bytes: (0..=255).collect() };
    for writes in AnyCodec::all() {
        for reads in AnyCodec::all() {
            let same = std::mem::discriminant(&writes) == std::mem::discriminant(&reads);
            let name = stage.name();
            let producer = stage.connect_with(&name, writes.clone()).await?;
            stage.publish(&producer, job.clone()).await?;
            drop(producer);
            let consumer = stage.connect_with(&name, reads.clone()).await?;
            let (came, unsettled) = open(stage.take(&consumer).await?);
            if same {
                ensure!(came.as_ref() == Ok(&job), "a job written with {writes:?} came back as {came:?}");
            } else {
                ensure!(came.is_err(), "a job written with {writes:?} was read with {reads:?}");
            }
            stage.settle_ours(&consumer, unsettled, Verdict::Ack).await?;
        }
    }
    Ok(())
}

/// C-29: strange names of queues work and stay apart, or are refused with the rule.
pub(crate) async fn c_29<B: Backend>(stage: &Stage<'_, B>) -> Check {
    let base = stage.name();
    let odd = ["ü世", " ", ":", "/", ".", "#", "{}", "*", "\\", "%", "-", "_"];
    let mut names: Vec<String> = odd.iter().map(|odd| format!("{base}{odd}x")).collect();
    names.extend([255, 256].map(|length| format!("{base:-<length$}")));
    let mut works = Vec::new();
    for name in names {
        match stage.within("`connect`", stage.backend.connect(&name, AnyCodec::default())).await? {
            Ok(worker) => works.push((name, worker)),
            Err(error) => {
                let said = error.to_string();
                ensure!(said.len() > 10, "a queue's name was refused without the rule: {said:?}");
                ensure!(
                    error.class() == queue_core::ErrorClass::Fatal,
                    "a queue's name was refused as if it could pass later"
                );
            }
        }
    }
    ensure!(!works.is_empty(), "each of the names was refused");
    let mut ids: Vec<JobId> = Vec::new();
    for (at, (_, worker)) in works.iter().enumerate() {
        worker.demand(queue_core::Demand::of(1));
        ids.push(stage.publish(worker, Job::new(at as u64)).await?);
    }
    for (at, (name, worker)) in works.iter().enumerate() {
        let came = stage.drain(worker, Duration::from_millis(500)).await?;
        ensure!(came == [at as u64], "the queue {name:?} got one job, and handed out those of {came:?}");
    }
    Ok(())
}
