//! The contract on Kafka.
//!
//! A thread polls, another commits: per partition the lowest offset that is not done. An ack is a mark in memory, a return goes to the front of
//! the local lane with its position held, a retry and a dead letter are a copy, its delivery report, then the mark.
//!
//! Left out: crash cap and finished map (so [`CrashCap`](Feature::CrashCap) is absent, and a crash hands out again all above the position), the
//! mover of the retry topics (a retried job waits there, with its due time), key lanes, delays of a first publish and priorities (refused).

mod partitions;
mod producer;
mod thread;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use queue_core::{
    Capabilities, Clock, Codec, Delivery, DeliveryOf, Demand, Durability, Encoded, Entry, Events, Feature, IdSource,
    JobId, Refusal, RequestError, Retries, Room, Settled, SettlingOf, Tally, Tier, UnsettledOf, Verdict, Worker,
    WorkerError,
};
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::producer::{DeliveryFuture, FutureProducer, Producer};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use self::producer::{failure, headers, refusal, reported, retry_topic, send};
pub use self::thread::OffsetReceipt;
use self::thread::{Group, Shared};
use queue_core::wire;

/// How long the producer tries before a send is unconfirmed, and how long a metadata call may take.
const TIMEOUT_MS: u64 = 30_000;
/// The producer's own limit of a message.
const MAX_BODY: usize = 1_000_000;

/// The worker of one topic.
pub struct KafkaFit<J, C> {
    shared: Arc<Shared<J, C>>,
    producer: FutureProducer,
    ids: Mutex<IdSource>,
    consumer_closed: tokio::sync::Mutex<Option<oneshot::Receiver<()>>>,
    capabilities: Capabilities,
    accepted: AtomicU64,
}

impl<J: Send + 'static, C: Codec<J>> KafkaFit<J, C> {
    /// Joins the group of `queue`.
    ///
    /// # Errors
    /// The brokers cannot be reached, or the topic does not exist.
    pub async fn connect(brokers: &str, queue: &str, codec: C) -> Result<Self, WorkerError> {
        let mut common = ClientConfig::new();
        common.set("bootstrap.servers", brokers).set("allow.auto.create.topics", "false");
        let mut produce = ClientConfig::new();
        produce.set("bootstrap.servers", brokers).set("enable.idempotence", "true").set("linger.ms", "5");
        produce.set("message.timeout.ms", TIMEOUT_MS.to_string());
        let producer: FutureProducer = produce.create().map_err(|e| failure("make a producer", e))?;
        let shared = Arc::new(Shared::new(queue, codec));
        let consumer: BaseConsumer<_> = common
            .set("group.id", queue)
            .set("enable.auto.commit", "false")
            .set("enable.auto.offset.store", "false")
            .set("auto.offset.reset", "earliest")
            .set("queued.min.messages", "1000")
            .set("queued.max.messages.kbytes", "8192")
            .set("fetch.queue.backoff.ms", "2")
            .set("partition.assignment.strategy", "cooperative-sticky")
            .create_with_context(Group(shared.clone()))
            .map_err(|e| failure("make a consumer", e))?;
        let topic = queue.to_owned();
        let check = spawn_blocking(move || {
            let metadata = consumer.fetch_metadata(Some(&topic), Duration::from_millis(TIMEOUT_MS));
            let metadata = metadata.map_err(|e| failure("look for the topic", e))?;
            if metadata.topics().iter().all(|found| found.partitions().is_empty()) {
                return Err(WorkerError::fatal(format!("topic `{topic}` does not exist: create it")));
            }
            consumer.subscribe(&[&topic]).map_err(|e| failure("subscribe", e))?;
            Ok(consumer)
        });
        let consumer =
            check.await.map_err(|e| WorkerError::fatal("the check of the topic has panicked").with_source(e))??;
        let closed = thread::start(consumer, shared.clone())
            .map_err(|e| WorkerError::fatal("no thread could be started").with_source(e))?;
        let mut capabilities =
            Capabilities::new("kafka", Durability::Replicated).with(Feature::Retries, Tier::EmulatedDurable);
        capabilities.max_body = Some(MAX_BODY);
        Ok(Self {
            shared,
            producer,
            ids: Mutex::default(),
            consumer_closed: tokio::sync::Mutex::new(Some(closed)),
            capabilities,
            accepted: AtomicU64::new(0),
        })
    }

    /// Starts up to `max` of the lane; what an ended assignment left there is dropped, its new owner has it.
    fn take(&self, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) -> bool {
        let before = into.len();
        let mut lane = self.shared.lane.lock();
        while into.len() - before < max
            && let Some(delivery) = lane.pop_front()
        {
            if self.shared.partitions.start(delivery.receipt.place, &delivery.receipt.ownership) {
                into.push_back(delivery);
            }
        }
        let more = !lane.is_empty();
        drop(lane);
        if more {
            // Permits do not add up: whoever leaves something passes the wake-up on.
            self.shared.arrived.notify_one();
        }
        into.len() > before
    }

    /// Answers what needs no I/O: an ack, and a return without a wait.
    fn settle_here(&self, settling: &mut SettlingOf<Self>) {
        let Some((unsettled, verdict)) = settling.asked() else { return };
        let place = unsettled.receipt.place;
        if !self.shared.partitions.owns(place) {
            drop(settling.answer(Settled::LostOwnership));
            return;
        }
        match verdict {
            Verdict::Ack => {
                let done = self.shared.partitions.finish(place);
                drop(settling.answer(if done { Settled::Done } else { Settled::LostOwnership }));
            }
            Verdict::Return { after } if after.is_zero() && unsettled.payload.is_some() => {
                let kept = self.shared.partitions.put_back(place);
                let answer = settling.answer(if kept { Settled::Done } else { Settled::LostOwnership });
                if let Some((unsettled, _)) = answer.filter(|_| kept)
                    && let Some(payload) = unsettled.payload
                {
                    let back = Delivery { meta: unsettled.meta, payload, receipt: unsettled.receipt };
                    self.shared.lane.lock().push_front(back);
                    self.shared.arrived.notify_one();
                }
            }
            Verdict::Retry { .. } | Verdict::Dead { .. } | Verdict::Return { .. } => {}
        }
    }

    /// Produces the copy that `verdict` asks for.
    fn copy(&self, unsettled: &UnsettledOf<Self>, verdict: &Verdict) -> Result<DeliveryFuture, WorkerError> {
        let (queue, receipt) = (&self.shared.topic, &unsettled.receipt);
        let mut pairs = wire::overrides(&unsettled.meta, verdict, receipt.enqueued_ms, queue).unwrap_or_default();
        let target = match verdict {
            Verdict::Dead { .. } => format!("{queue}.dead"),
            Verdict::Retry { after } | Verdict::Return { after } if !after.is_zero() => {
                let due = wire::now_ms() + u64::try_from(after.as_millis()).unwrap_or(u64::MAX / 2) + 1;
                pairs.push((wire::DUE_MS.into(), due.to_string().into()));
                retry_topic(queue, *after)
            }
            Verdict::Ack | Verdict::Retry { .. } | Verdict::Return { .. } => queue.clone(),
        };
        let Some(payload) = &unsettled.payload else {
            return Err(WorkerError::fatal("a copy needs the body of its delivery, and the engine did not keep it"));
        };
        let made = headers(receipt.headers.as_ref(), &pairs);
        send(&self.producer, &target, receipt.key.as_ref(), payload.body(), made)
            .map_err(|e| failure("produce a copy", *e))
    }
}

impl<J: Send + 'static, C: Codec<J>> Worker for KafkaFit<J, C> {
    type Job = J;
    type Payload = Encoded<J, C>;
    type Receipt = OffsetReceipt;

    async fn queue(&self, jobs: &mut [Entry<J>], _room: Room) -> Result<(), WorkerError> {
        // A full local queue is answered at once: the engine bounds what it sends, and knows when to come again.
        let mut flying: Vec<(usize, JobId, DeliveryFuture)> = Vec::new();
        for (at, entry) in jobs.iter_mut().enumerate().filter(|(_, entry)| entry.is_open()) {
            if self.shared.closed.is_cancelled() {
                entry.refuse(Refusal::Closed);
                continue;
            }
            let id = entry.extra().and_then(|extra| extra.id).unwrap_or_else(|| self.ids.lock().take());
            let (body, pairs) = match wire::encode(&self.shared.codec, entry, id, &self.capabilities) {
                Ok(encoded) => encoded,
                Err(refusal) => {
                    entry.refuse(refusal);
                    continue;
                }
            };
            match send(&self.producer, &self.shared.topic, None, &body, headers(None, &pairs)) {
                Ok(report) => {
                    // A send that is dropped or times out may still arrive.
                    entry.unconfirmed(id);
                    flying.push((at, id, report));
                }
                Err(error) => entry.refuse(match refusal(&error, MAX_BODY) {
                    Some(refusal) => refusal,
                    None => Refusal::Rejected(failure("produce", *error)),
                }),
            }
        }
        let mut failed = None;
        for (at, id, report) in flying {
            match reported(report).await {
                Ok(()) => {
                    self.accepted.fetch_add(1, Ordering::Relaxed);
                    drop(jobs[at].accept(id));
                }
                Err(error) => match refusal(&error, MAX_BODY) {
                    Some(refusal) => jobs[at].refuse(refusal),
                    None => failed = Some(failure("confirm a send", *error)),
                },
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn demand(&self, demand: Demand) {
        *self.shared.demand.lock() = demand;
    }

    async fn request(&self, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), RequestError> {
        loop {
            let arrived = self.shared.arrived.notified();
            if self.shared.closed.is_cancelled() {
                return Err(RequestError::Closed);
            }
            if self.take(max.max(1), into) {
                return Ok(());
            }
            arrived.await;
        }
    }

    fn give_back(&self, unstarted: &mut VecDeque<DeliveryOf<Self>>) {
        while let Some(delivery) = unstarted.pop_back() {
            if self.shared.partitions.put_back(delivery.receipt.place) {
                self.shared.lane.lock().push_front(delivery);
            }
        }
        self.shared.arrived.notify_one();
    }

    async fn settle(&self, batch: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        let (mut flying, mut failed) = (Vec::new(), None);
        for (at, settling) in batch.iter_mut().enumerate() {
            self.settle_here(settling);
            let Some((unsettled, verdict)) = settling.asked() else { continue };
            match self.copy(unsettled, verdict) {
                Ok(report) => flying.push((at, unsettled.receipt.place, report)),
                Err(error) => failed = Some(error),
            }
        }
        for (at, place, report) in flying {
            match reported(report).await {
                Ok(()) => {
                    let done = self.shared.partitions.finish(place);
                    drop(batch[at].answer(if done { Settled::Done } else { Settled::LostOwnership }));
                }
                Err(error) => failed = Some(failure("produce a copy", *error)),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn settle_now(&self, batch: &mut [SettlingOf<Self>]) -> bool {
        batch.iter_mut().for_each(|settling| self.settle_here(settling));
        batch.iter().all(|settling| settling.answered().is_some())
    }

    fn close(&self) {
        self.shared.closed.cancel();
        self.shared.arrived.notify_waiters();
    }

    async fn shutdown(&self, deadline: Instant, _unrun: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), WorkerError> {
        // What waits in the lane is not marked: its position is held, and the next owner gets it.
        self.close();
        self.shared.ended.cancel();
        let late =
            || WorkerError::retry("kafka did not let the consumer go by the deadline: its thread is left behind");
        let mut closed = self.consumer_closed.lock().await;
        if let Some(receiver) = closed.as_mut() {
            // An error: the thread has died, which closes the consumer too.
            drop(timeout_at(deadline, receiver).await.map_err(|_| late())?);
            *closed = None;
        }
        let (producer, left) = (self.producer.clone(), deadline.saturating_duration_since(Instant::now()));
        let flush = spawn_blocking(move || producer.flush(left).map_err(|e| failure("flush", e))).await;
        flush.map_err(|e| WorkerError::fatal("the flush has panicked").with_source(e))?
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        tally.accepted = self.accepted.load(Ordering::Relaxed);
        tally
    }

    fn events(&self) -> Events {
        self.shared.events.events()
    }
}

impl<J: Send + 'static, C: Codec<J>> Retries for KafkaFit<J, C> {}

impl<J, C> std::fmt::Debug for KafkaFit<J, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KafkaFit").field("topic", &self.shared.topic).finish_non_exhaustive()
    }
}
