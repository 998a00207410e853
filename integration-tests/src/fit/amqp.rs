//! The contract on RabbitMQ.
//!
//! Publishing is confirmed and mandatory, on a connection of its own, since an alarm blocks a connection. A retry, a return and a dead letter
//! are a copy, its confirmation, then the ack of the original; an ack that was not sent (`Ok(false)`) is lost ownership.
//!
//! Left out: topology (`Q`, `Q.dead` and the delay queues exist, or the copy is unroutable, which is an error), reconnecting (a lost channel
//! ends every request with an error), delays of a first publish and priorities (refused), and waits beyond the longest delay queue (an error).

mod consumer;
mod properties;
mod publish;

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use lapin::options::{BasicAckOptions, BasicPublishOptions, ConfirmSelectOptions};
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties, PublisherConfirm};
use parking_lot::Mutex;
use queue_core::{
    Capabilities, Clock, Codec, Delivery, DeliveryOf, Demand, Durability, Encoded, Entry, EventLog, Events, Feature,
    IdSource, JobId, Refusal, RequestError, Retries, Room, Settled, Settling, SettlingOf, Tally, Tier, UnsettledOf,
    Verdict, Worker, WorkerError,
};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::consumer::TagReceipt;
use self::consumer::{Consuming, Epoch, Raw};
use self::properties::{head, properties};
use self::publish::{CONFIRM, Sent, confirmed, failure, watch_alarms};
use queue_core::wire;

/// The largest message of a 4.x broker; above it the channel dies, and the job with it.
const MAX_BODY: usize = 16 << 20;
/// The delay queues that are expected to exist, `Q.delay.<ms>`.
const CLASSES: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(30), Duration::from_secs(300)];

/// The worker of one queue.
pub struct AmqpFit<J, C> {
    queue: String,
    consuming: (Connection, Channel),
    publishing: (Connection, Channel),
    codec: C,
    ids: Mutex<IdSource>,
    inbox: tokio::sync::Mutex<mpsc::UnboundedReceiver<Raw>>,
    demand: watch::Sender<Demand>,
    blocked: Arc<AtomicBool>,
    closed: CancellationToken,
    tasks: TaskTracker,
    clock: Clock,
    events: EventLog,
    capabilities: Capabilities,
    accepted: AtomicU64,
    job: PhantomData<fn() -> J>,
}

impl<J, C: Codec<J>> AmqpFit<J, C> {
    /// Connects twice, to consume and to publish.
    ///
    /// # Errors
    /// The broker cannot be reached or refuses.
    pub async fn connect(url: &str, queue: &str, codec: C) -> Result<Self, WorkerError> {
        let connect = |what| async move {
            let connection = Connection::connect(url, ConnectionProperties::default()).await;
            let connection = connection.map_err(|e| failure(what, e))?;
            let channel = connection.create_channel().await.map_err(|e| failure(what, e))?;
            Ok::<_, WorkerError>((connection, channel))
        };
        let consuming = connect("connect to consume").await?;
        let publishing = connect("connect to publish").await?;
        publishing
            .1
            .confirm_select(ConfirmSelectOptions::default())
            .await
            .map_err(|e| failure("ask for confirms", e))?;
        let (feed, inbox) = mpsc::unbounded_channel();
        let (closed, tasks, events) = (CancellationToken::new(), TaskTracker::new(), EventLog::new(64));
        let demand = watch::Sender::new(Demand::of(0));
        let consume = Consuming {
            channel: consuming.1.clone(),
            queue: queue.to_owned(),
            demand: demand.subscribe(),
            feed,
            closed: closed.clone(),
            events: events.clone(),
            epoch: Arc::new(Epoch::default()),
        };
        tasks.spawn(consume.run());
        let blocked = Arc::new(AtomicBool::new(false));
        tasks.spawn(watch_alarms(publishing.0.events_listener(), blocked.clone(), events.clone(), closed.clone()));
        tasks.close();
        let mut capabilities =
            Capabilities::new("amqp", Durability::Restart).with(Feature::Retries, Tier::EmulatedDurable);
        capabilities.max_body = Some(MAX_BODY);
        Ok(Self {
            queue: queue.to_owned(),
            consuming,
            publishing,
            codec,
            ids: Mutex::default(),
            inbox: tokio::sync::Mutex::new(inbox),
            demand,
            blocked,
            closed,
            tasks,
            clock: Clock::new(),
            events,
            capabilities,
            accepted: AtomicU64::new(0),
            job: PhantomData,
        })
    }

    fn delivery(&self, raw: Raw) -> Delivery<Encoded<J, C>, TagReceipt> {
        let (mut head, redeliveries) = head(&raw.receipt.properties, raw.redelivered);
        let payload = Encoded::new(self.codec.clone(), raw.data.into())
            .with_content_type(head.content_type.take())
            .with_kind(head.kind.take());
        if head.id.is_none() && head.source.is_none() {
            // Nothing names it: the number holds for this delivery, and from its first copy on for good.
            head.id = Some(self.ids.lock().take());
        }
        Delivery { meta: head.meta(&self.clock, redeliveries), payload, receipt: raw.receipt }
    }

    /// Sends; the confirmation comes later, so that many can be in flight.
    async fn send(&self, target: &str, body: &[u8], made: BasicProperties) -> Result<PublisherConfirm, WorkerError> {
        let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
        let publish = self.publishing.1.basic_publish("".into(), target.into(), options, body, made);
        match timeout(CONFIRM, publish).await {
            Ok(sent) => sent.map_err(|e| failure("publish", e)),
            Err(_) => {
                Err(WorkerError::retry(format!("queue `{target}` took nothing for {CONFIRM:?}: is there an alarm?")))
            }
        }
    }
}

impl<J: Send + 'static, C: Codec<J>> AmqpFit<J, C> {
    async fn settle_one(&self, settling: &mut SettlingOf<Self>) -> Result<(), WorkerError> {
        let Some((unsettled, verdict)) = settling.asked() else { return Ok(()) };
        // A claim of an older channel is not sent: its tag is another delivery's by now.
        let settled = if unsettled.receipt.epoch.is_over() {
            Settled::LostOwnership
        } else {
            self.copy(unsettled, verdict).await?;
            match unsettled.receipt.acker.ack(BasicAckOptions::default()).await {
                Ok(true) => Settled::Done,
                Ok(false) => Settled::LostOwnership,
                Err(error) => return Err(failure("acknowledge", error)),
            }
        };
        drop(settling.answer(settled));
        Ok(())
    }

    /// Publishes the copy that `verdict` asks for, and waits for its confirmation.
    async fn copy(&self, unsettled: &UnsettledOf<Self>, verdict: &Verdict) -> Result<(), WorkerError> {
        let receipt = &unsettled.receipt;
        let Some(pairs) = wire::overrides(&unsettled.meta, verdict, None, &self.queue) else { return Ok(()) };
        let target = match verdict {
            Verdict::Dead { .. } => format!("{}.dead", self.queue),
            Verdict::Retry { after } | Verdict::Return { after } if !after.is_zero() => {
                let class = wire::class(&CLASSES, *after).ok_or_else(|| {
                    WorkerError::fatal(format!("queue `{}` has no delay queue for {after:?}", self.queue))
                })?;
                format!("{}.delay.{}", self.queue, class.as_millis())
            }
            Verdict::Ack | Verdict::Retry { .. } | Verdict::Return { .. } => self.queue.clone(),
        };
        let Some(payload) = &unsettled.payload else {
            return Err(WorkerError::fatal("a copy needs the body of its delivery, and the engine did not keep it"));
        };
        let made = properties(&receipt.properties, pairs)
            .map_err(|_| WorkerError::fatal("a header of the delivery does not fit into a copy"))?;
        let confirm = self.send(&target, payload.body(), made).await?;
        confirmed(confirm).await.confirmed(&target)
    }
}

impl<J: Send + 'static, C: Codec<J>> Worker for AmqpFit<J, C> {
    type Job = J;
    type Payload = Encoded<J, C>;
    type Receipt = TagReceipt;

    async fn queue(&self, jobs: &mut [Entry<J>], room: Room) -> Result<(), WorkerError> {
        let mut flying: Vec<(usize, JobId, PublisherConfirm)> = Vec::new();
        let mut failed = None;
        for (at, entry) in jobs.iter_mut().enumerate().filter(|(_, entry)| entry.is_open()) {
            if self.closed.is_cancelled() {
                entry.refuse(Refusal::Closed);
                continue;
            }
            if room == Room::Refuse && self.blocked.load(Ordering::Relaxed) {
                entry.refuse(Refusal::Full);
                continue;
            }
            let id = entry.extra().and_then(|extra| extra.id).unwrap_or_else(|| self.ids.lock().take());
            let encoded = wire::encode(&self.codec, entry, id, &self.capabilities)
                .and_then(|(body, pairs)| Ok((body, properties(&BasicProperties::default(), pairs)?)));
            let (body, made) = match encoded {
                Ok(encoded) => encoded,
                Err(refusal) => {
                    entry.refuse(refusal);
                    continue;
                }
            };
            // A publish that is dropped while it waits is sent all the same.
            entry.unconfirmed(id);
            match self.send(&self.queue, &body, made).await {
                Ok(confirm) => flying.push((at, id, confirm)),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        for (at, id, confirm) in flying {
            match confirmed(confirm).await {
                Sent::Confirmed => {
                    self.accepted.fetch_add(1, Ordering::Relaxed);
                    drop(jobs[at].accept(id));
                }
                Sent::Unroutable => jobs[at].refuse(Refusal::Unroutable),
                Sent::Refused => jobs[at].refuse(Refusal::Full),
                Sent::Unknown(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn demand(&self, demand: Demand) {
        self.demand.send_if_modified(|told| std::mem::replace(told, demand) != demand);
    }

    async fn request(&self, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), RequestError> {
        let mut inbox = self.inbox.lock().await;
        let Some(mut raw) = inbox.recv().await else {
            return Err(if self.closed.is_cancelled() {
                RequestError::Closed
            } else {
                WorkerError::reconnect("rabbitmq ended the consumer").into()
            });
        };
        for taken in 1.. {
            into.push_back(self.delivery(raw));
            raw = match if taken < max { inbox.try_recv().ok() } else { None } {
                Some(next) => next,
                None => break,
            };
        }
        Ok(())
    }

    async fn settle(&self, batch: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        // Side by side, each answered by itself: a batch that is dropped half way has told what it did.
        let answers = join_all(batch.iter_mut().map(|settling| self.settle_one(settling))).await;
        answers.into_iter().collect()
    }

    fn close(&self) {
        self.closed.cancel();
    }

    async fn shutdown(&self, deadline: Instant, _unrun: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), WorkerError> {
        self.close();
        let end = async {
            self.tasks.wait().await;
            let mut held: Vec<SettlingOf<Self>> = Vec::new();
            let mut inbox = self.inbox.lock().await;
            while let Ok(raw) = inbox.try_recv() {
                held.push(Settling::new(self.delivery(raw).into(), Verdict::Return { after: Duration::ZERO }));
            }
            self.settle(&mut held).await?;
            // Each may be closed already, by the broker or by an earlier call.
            for (connection, channel) in [&self.consuming, &self.publishing] {
                drop(channel.close(200, "done".into()).await);
                drop(connection.close(200, "done".into()).await);
            }
            Ok(())
        };
        let late = WorkerError::retry("rabbitmq was not closed by the deadline: what is unsettled comes back");
        timeout_at(deadline, end).await.map_err(|_| late)?
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        tally.accepted = self.accepted.load(Ordering::Relaxed);
        tally
    }

    fn events(&self) -> Events {
        self.events.events()
    }
}

impl<J: Send + 'static, C: Codec<J>> Retries for AmqpFit<J, C> {}

impl<J, C> std::fmt::Debug for AmqpFit<J, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AmqpFit").field("queue", &self.queue).finish_non_exhaustive()
    }
}
