//! A worker like a broker's: bytes that are decoded when a job starts, a share of one, verdicts that need I/O, ownership
//! that can be lost, no delays. It keeps a record of all that it is asked.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use queue::core::codec::{Unencodable, Wire};
use queue::core::{
    Capabilities, Clock, Codec, Delivery, DeliveryOf, Demand, Durability, Encoded, Entry, Event, EventLog, Events,
    Feature, IdSource, Loss, Meta, Ownership, Receipt, Refusal, RequestError, Room, Settled, SettlingOf, Tally, Tier,
    Undecodable, Verdict, WorkerError,
};
use queue::{JobId, Retries, Worker};
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::Instant;

/// Text as it is. The body `panic` panics; what is not UTF-8 is no job.
#[derive(Clone)]
pub struct Text;

impl Codec<String> for Text {
    fn content_type<'a>(&'a self, _: &'a String) -> &'a str {
        "text/plain"
    }

    fn encode(&self, job: &String, body: &mut Vec<u8>) -> Result<(), Unencodable> {
        body.extend_from_slice(job.as_bytes());
        Ok(())
    }

    fn decode(&self, message: Wire<'_>) -> Result<String, Undecodable> {
        assert!(message.body != &b"panic"[..], "planned: the codec panics");
        String::from_utf8(message.body.to_vec()).map_err(|_| Undecodable("not UTF-8".into()))
    }
}

/// What a delivery is known by. Its lease is extended while the second part lives.
pub struct Slip(Ownership, #[expect(dead_code, reason = "held for its life")] Arc<()>);

impl Receipt for Slip {
    fn ownership(&self) -> Option<&Ownership> {
        Some(&self.0)
    }

    fn fence(&self) -> Option<u64> {
        Some(7)
    }
}

/// What the broker was asked, in order. Verdicts come with the delivery's metadata and body.
#[derive(Debug, Clone)]
pub enum Op {
    Demand(Demand),
    Request(usize),
    /// It was answered, or dropped.
    RequestOver,
    FailedRequest(Instant),
    FailedSettle,
    Settled(Verdict, Meta, Option<Bytes>),
    Lost,
    Close,
    Shutdown,
}

#[derive(Default)]
struct State {
    ready: VecDeque<(Meta, Bytes)>,
    owned: Vec<(JobId, Ownership)>,
    leases: Vec<(JobId, Weak<()>)>,
    settle_takes: Duration,
    ops: Vec<Op>,
    request_errors: VecDeque<WorkerError>,
    settle_errors: VecDeque<WorkerError>,
    ids: IdSource,
    closed: bool,
}

/// The broker. Clones are the same.
#[derive(Clone)]
pub struct Broker {
    state: Arc<Mutex<State>>,
    more: Arc<Notify>,
    clock: Arc<Clock>,
    capabilities: Arc<Capabilities>,
    log: Option<EventLog>,
}

impl Broker {
    pub fn new() -> Self {
        let capabilities = Capabilities::new("test", Durability::Broker)
            .with(Feature::Retries, Tier::Native)
            .with(Feature::DeadLetters, Tier::Native);
        Self {
            state: Arc::default(),
            more: Arc::default(),
            clock: Arc::default(),
            capabilities: Arc::new(capabilities),
            log: None,
        }
    }

    /// It tells of its connection and its fetches: what a test makes it.
    pub fn with_events(mut self) -> Self {
        self.log = Some(EventLog::new(16));
        self
    }

    /// Tells of `event`.
    pub fn note(&self, event: Event) {
        self.log.as_ref().unwrap().note(event);
    }

    /// It hands out up to so many at once.
    pub fn with_share(mut self, share: usize) -> Self {
        self.capabilities = Arc::new((*self.capabilities).clone().with_share(share));
        self
    }

    /// A verdict is carried out so long after it came.
    pub fn settle_takes(&self, time: Duration) {
        self.state.lock().settle_takes = time;
    }

    /// The jobs whose lease is extended: their receipts live.
    pub fn leased(&self) -> Vec<JobId> {
        let state = self.state.lock();
        state.leases.iter().filter(|(_, lease)| lease.strong_count() > 0).map(|(id, _)| *id).collect()
    }

    /// How many requests wait.
    pub fn waiting(&self) -> usize {
        let ops = self.ops();
        let count = |what: fn(&Op) -> bool| ops.iter().filter(|op| what(op)).count();
        count(|op| matches!(op, Op::Request(_))) - count(|op| matches!(op, Op::RequestOver))
    }

    /// What it was asked so far.
    pub fn ops(&self) -> Vec<Op> {
        self.state.lock().ops.clone()
    }

    /// The verdicts that it has carried out.
    pub fn verdicts(&self) -> Vec<(Verdict, Meta, Option<Bytes>)> {
        let settled = |op| if let Op::Settled(verdict, meta, body) = op { Some((verdict, meta, body)) } else { None };
        self.ops().into_iter().filter_map(settled).collect()
    }

    /// A message of some other producer.
    pub fn publish(&self, body: &'static [u8]) -> JobId {
        let mut state = self.state.lock();
        let id = state.ids.take();
        let meta = Meta { id, attempt: 1, enqueued: self.clock.stamp(), extra: None };
        state.ready.push_back((meta, Bytes::from_static(body)));
        drop(state);
        self.more.notify_one();
        id
    }

    /// How many messages wait.
    pub fn ready(&self) -> usize {
        self.state.lock().ready.len()
    }

    /// Takes the job away from whoever has it.
    pub fn lose(&self, id: JobId, why: Loss) {
        let owned = self.state.lock().owned.iter().rfind(|(other, _)| *other == id).unwrap().1.clone();
        owned.lose(why);
    }

    pub fn fail_next_request(&self, error: WorkerError) {
        self.state.lock().request_errors.push_back(error);
    }

    pub fn fail_next_settle(&self, error: WorkerError) {
        self.state.lock().settle_errors.push_back(error);
    }

    fn keep(&self, op: Op) {
        self.state.lock().ops.push(op);
    }

    fn put_back(&self, meta: Meta, body: Option<Bytes>) {
        let Some(body) = body else { panic!("a delivery of a broker came back without its body") };
        self.state.lock().ready.push_front((meta, body));
        self.more.notify_one();
    }

    fn take(&self, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) -> Option<Result<(), RequestError>> {
        let mut state = self.state.lock();
        if let Some(error) = state.request_errors.pop_front() {
            state.ops.push(Op::FailedRequest(Instant::now()));
            return Some(Err(error.into()));
        }
        if state.closed {
            return Some(Err(RequestError::Closed));
        }
        if state.ready.is_empty() {
            return None;
        }
        for _ in 0..max {
            let Some((meta, body)) = state.ready.pop_front() else { break };
            let (ownership, lease) = (Ownership::new(), Arc::new(()));
            state.owned.push((meta.id, ownership.clone()));
            state.leases.push((meta.id, Arc::downgrade(&lease)));
            into.push_back(Delivery { meta, payload: Encoded::new(Text, body), receipt: Slip(ownership, lease) });
        }
        if !state.ready.is_empty() {
            self.more.notify_one();
        }
        Some(Ok(()))
    }

    fn carry_out(&self, settling: &mut SettlingOf<Self>) {
        let Some((asked, _)) = settling.asked() else { return };
        if asked.receipt.0.lost().is_some() {
            settling.answer(Settled::LostOwnership);
            return self.keep(Op::Lost);
        }
        let Some((delivery, verdict)) = settling.answer(Settled::Done) else { return };
        let mut meta = delivery.meta;
        let body = delivery.payload.map(|payload| payload.body().clone());
        self.keep(Op::Settled(verdict.clone(), meta.clone(), body.clone()));
        match verdict {
            Verdict::Ack | Verdict::Dead { .. } => {}
            Verdict::Retry { .. } => {
                meta.attempt += 1;
                self.put_back(meta, body);
            }
            Verdict::Return { .. } => self.put_back(meta, body),
        }
    }
}

/// A request that waits.
struct Asking<'a>(&'a Broker);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.keep(Op::RequestOver);
    }
}

impl Retries for Broker {}

impl Worker for Broker {
    type Job = String;
    type Payload = Encoded<String, Text>;
    type Receipt = Slip;

    async fn queue(&self, jobs: &mut [Entry<String>], _: Room) -> Result<(), WorkerError> {
        for entry in jobs.iter_mut().filter(|entry| entry.is_open()) {
            if self.state.lock().closed {
                entry.refuse(Refusal::Closed);
                continue;
            }
            let id = self.state.lock().ids.take();
            entry.unconfirmed(id);
            yield_now().await;
            let Some((job, extra)) = entry.accept(id) else { continue };
            let meta = Meta { id, attempt: 1, enqueued: self.clock.stamp(), extra };
            self.state.lock().ready.push_back((meta, Bytes::from(job)));
            self.more.notify_one();
        }
        Ok(())
    }

    fn demand(&self, demand: Demand) {
        self.keep(Op::Demand(demand));
    }

    async fn request(&self, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), RequestError> {
        self.keep(Op::Request(max));
        let _asking = Asking(self);
        loop {
            let more = self.more.notified();
            if let Some(answer) = self.take(max, into) {
                return answer;
            }
            more.await;
        }
    }

    async fn settle(&self, batch: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        yield_now().await;
        let time = self.state.lock().settle_takes;
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
        let failure = self.state.lock().settle_errors.pop_front();
        if let Some(error) = failure {
            self.keep(Op::FailedSettle);
            return Err(error);
        }
        batch.iter_mut().for_each(|settling| self.carry_out(settling));
        Ok(())
    }

    fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.ops.push(Op::Close);
        drop(state);
        self.more.notify_waiters();
    }

    async fn shutdown(&self, _: Instant, _: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), WorkerError> {
        self.keep(Op::Shutdown);
        Ok(())
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn tally(&self) -> Tally {
        Tally::default()
    }

    fn events(&self) -> Events {
        self.log.as_ref().map_or_else(Events::none, EventLog::events)
    }
}
