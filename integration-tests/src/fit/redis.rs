//! The contract on Redis Streams.
//!
//! A task owns the blocking connection and feeds requests by a channel, so that a dropped request loses nothing; settling is one script,
//! `settle.lua`, fenced by the owner of each entry.
//!
//! Left out: probing (it assumes Redis 7.0 or later), reconnecting (a lost reader ends every request with an error), leases (nothing is
//! extended or taken over, so [`Leases`](Feature::Leases) is absent), moving what is due (a delayed job is refused, a retried one stays in
//! its due set).

mod reader;
mod script;

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use queue_core::{
    Capabilities, Clock, Codec, Delivery, DeliveryOf, Demand, Durability, Encoded, Entry, EventLog, Events, Feature,
    IdSource, JobId, Ownership, Receipt, Refusal, RequestError, Retries, Room, Settling, SettlingOf, Tally, Tier,
    Verdict, Worker, WorkerError,
};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{AsyncConnectionConfig, Client, RedisResult, Script, Value};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::reader::{BLOCK, Open, Raw, Reader, Want};
use self::script::{failure, operations, settled};
use queue_core::wire;

/// The consumer group of every queue.
const GROUP: &str = "w";
/// The field of the body. A user's header of this name would replace it, and is refused.
const BODY: &str = "b";
/// The deadline of a command; the client's own default of 500 ms is below one blocking read.
const RESPONSE: Duration = Duration::from_secs(5);
/// How many deliveries one script settles: the server stands still meanwhile.
const SETTLES: usize = 1000;

/// What an entry is settled by.
#[derive(Debug)]
pub struct StreamReceipt {
    id: Box<str>,
    enqueued_ms: Option<u64>,
    ownership: Ownership,
}

impl Receipt for StreamReceipt {
    fn ownership(&self) -> Option<&Ownership> {
        Some(&self.ownership)
    }
}

/// The worker of one queue.
pub struct RedisFit<J, C> {
    keys: [String; 4],
    consumer: String,
    settle: Script,
    command: ConnectionManager,
    codec: C,
    ids: Mutex<IdSource>,
    inbox: tokio::sync::Mutex<mpsc::UnboundedReceiver<Raw>>,
    want: watch::Sender<Want>,
    closed: CancellationToken,
    tasks: TaskTracker,
    clock: Clock,
    events: EventLog,
    capabilities: Capabilities,
    accepted: AtomicU64,
    job: PhantomData<fn() -> J>,
}

impl<J, C: Codec<J>> RedisFit<J, C> {
    /// Connects twice, once to read, and makes the group.
    ///
    /// # Errors
    /// The server cannot be reached or refuses.
    pub async fn connect(url: &str, queue: &str, consumer: &str, codec: C) -> Result<Self, WorkerError> {
        let client = Client::open(url).map_err(|e| failure("open", e))?;
        let config = ConnectionManagerConfig::new().set_response_timeout(Some(RESPONSE));
        let mut command = client.get_connection_manager_with_config(config).await.map_err(|e| failure("connect", e))?;
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(Some((BLOCK * 2).max(BLOCK + RESPONSE)))
            .set_connection_timeout(Some(RESPONSE));
        let reader = client.get_multiplexed_async_connection_with_config(&config).await;
        let reader = reader.map_err(|e| failure("connect the reader", e))?;
        let keys = ["s", "z", "h", "d"].map(|kind| format!("jobqueue:{{{queue}}}:{kind}"));
        let mut create = redis::cmd("XGROUP");
        create.arg("CREATE").arg(&keys[0]).arg(GROUP).arg(0).arg("MKSTREAM");
        match create.query_async::<()>(&mut command).await {
            Err(error) if error.code() != Some("BUSYGROUP") => return Err(failure("create the group", error)),
            _ => {}
        }
        let (feed, inbox) = mpsc::unbounded_channel();
        let (want, closed, tasks, events) =
            (watch::Sender::default(), CancellationToken::new(), TaskTracker::new(), EventLog::new(64));
        let read = Reader {
            connection: reader,
            command: command.clone(),
            want: want.clone(),
            feed,
            closed: closed.clone(),
            stream: keys[0].clone(),
            consumer: consumer.to_owned(),
            events: events.clone(),
        };
        tasks.spawn(read.run());
        tasks.close();
        Ok(Self {
            keys,
            consumer: consumer.to_owned(),
            settle: Script::new(include_str!("settle.lua")),
            command,
            codec,
            ids: Mutex::default(),
            inbox: tokio::sync::Mutex::new(inbox),
            want,
            closed,
            tasks,
            clock: Clock::new(),
            events,
            capabilities: Capabilities::new("redis", Durability::Broker).with(Feature::Retries, Tier::EmulatedDurable),
            accepted: AtomicU64::new(0),
            job: PhantomData,
        })
    }

    fn delivery(&self, mut raw: Raw) -> Delivery<Encoded<J, C>, StreamReceipt> {
        let payload = Encoded::new(self.codec.clone(), raw.body)
            .with_content_type(raw.head.content_type.take())
            .with_kind(raw.head.kind.take());
        let enqueued_ms = raw.head.enqueued_ms;
        let receipt = StreamReceipt { id: raw.id, enqueued_ms, ownership: Ownership::new() };
        Delivery { meta: raw.head.meta(&self.clock, 0), payload, receipt }
    }
}

impl<J, C> std::fmt::Debug for RedisFit<J, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisFit").field("stream", &self.keys[0]).finish_non_exhaustive()
    }
}

impl<J: Send + 'static, C: Codec<J>> Worker for RedisFit<J, C> {
    type Job = J;
    type Payload = Encoded<J, C>;
    type Receipt = StreamReceipt;

    async fn queue(&self, jobs: &mut [Entry<J>], _room: Room) -> Result<(), WorkerError> {
        // A server without memory says no at once: there is no room to wait for, whatever `room` says.
        let mut pipe = redis::pipe();
        pipe.ignore_errors();
        let mut sent: Vec<(usize, JobId)> = Vec::new();
        for (at, entry) in jobs.iter_mut().enumerate().filter(|(_, entry)| entry.is_open()) {
            if self.closed.is_cancelled() {
                entry.refuse(Refusal::Closed);
                continue;
            }
            let id = entry.extra().and_then(|extra| extra.id).unwrap_or_else(|| self.ids.lock().take());
            let (body, pairs) = match wire::encode(&self.codec, entry, id, &self.capabilities) {
                Ok(encoded) => encoded,
                Err(refusal) => {
                    entry.refuse(refusal);
                    continue;
                }
            };
            if pairs.iter().any(|(name, _)| &**name == BODY) {
                entry.refuse(Refusal::Unencodable("a header cannot be named `b` on redis".into()));
                continue;
            }
            pipe.cmd("XADD").arg(&self.keys[0]).arg("*").arg(BODY).arg(body);
            for (name, value) in &pairs {
                pipe.arg(&**name).arg(&value[..]);
            }
            // Until there is an answer the server may have it: so says the entry of a call that is dropped or fails.
            entry.unconfirmed(id);
            sent.push((at, id));
        }
        if sent.is_empty() {
            return Ok(());
        }
        let mut connection = self.command.clone();
        let answers: Vec<RedisResult<String>> =
            pipe.query_async(&mut connection).await.map_err(|error| failure("queue", error))?;
        for ((at, id), answer) in sent.into_iter().zip(answers) {
            match answer {
                Ok(_) => {
                    self.accepted.fetch_add(1, Ordering::Relaxed);
                    drop(jobs[at].accept(id));
                }
                Err(error) if error.code() == Some("OOM") => jobs[at].refuse(Refusal::Full),
                Err(error) => jobs[at].refuse(Refusal::Rejected(failure("queue", error))),
            }
        }
        Ok(())
    }

    fn demand(&self, demand: Demand) {
        self.want.send_modify(|want| (want.slots, want.ahead) = (demand.slots, demand.ahead));
    }

    async fn request(&self, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), RequestError> {
        let _open = Open::new(&self.want, max.max(1));
        let mut inbox = self.inbox.lock().await;
        let Some(mut raw) = inbox.recv().await else {
            // The reader has ended: by our own close, or because it lost its connection.
            return Err(match self.closed.is_cancelled() {
                true => RequestError::Closed,
                false => WorkerError::reconnect("redis closed the connection that reads").into(),
            });
        };
        for taken in 1.. {
            into.push_back(self.delivery(raw));
            self.want.send_modify(|want| want.held -= 1);
            // Nothing is taken out that would not be handed out.
            raw = match if taken < max { inbox.try_recv().ok() } else { None } {
                Some(next) => next,
                None => break,
            };
        }
        Ok(())
    }

    async fn settle(&self, batch: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        let mut failed = None;
        for chunk in batch.chunks_mut(SETTLES) {
            let mut call = self.settle.prepare_invoke();
            for key in &self.keys {
                call.key(key);
            }
            call.arg(GROUP).arg(&self.consumer);
            let asked = operations(chunk, &self.keys[0], &mut |word| {
                call.arg(word);
            });
            if asked == 0 {
                continue;
            }
            let mut connection = self.command.clone();
            let answers = match call.invoke_async::<Vec<Value>>(&mut connection).await {
                // The group is gone, and with it each claim to its entries.
                Err(error) if error.code() == Some("NOGROUP") => vec![Value::Int(1); asked],
                answers => answers.map_err(|error| failure("settle", error))?,
            };
            for (settling, answer) in chunk.iter_mut().filter(|settling| settling.asked().is_some()).zip(answers) {
                match settled(answer) {
                    Ok(settled) => drop(settling.answer(settled)),
                    Err(error) => failed = Some(error),
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn close(&self) {
        self.closed.cancel();
    }

    async fn shutdown(&self, deadline: Instant, _unrun: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), WorkerError> {
        self.close();
        let late = |_| {
            WorkerError::retry("redis did not end its read by the deadline: what it held comes back by a take-over")
        };
        timeout_at(deadline, self.tasks.wait()).await.map_err(late)?;
        let mut inbox = self.inbox.lock().await;
        let mut held: Vec<SettlingOf<Self>> = Vec::new();
        while let Ok(raw) = inbox.try_recv() {
            held.push(Settling::new(self.delivery(raw).into(), Verdict::Return { after: Duration::ZERO }));
        }
        timeout_at(deadline, self.settle(&mut held)).await.map_err(late)?
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

impl<J: Send + 'static, C: Codec<J>> Retries for RedisFit<J, C> {}
