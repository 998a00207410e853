//! The suite's hand on the reference.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use queue_core::{
    Capabilities, DeadLetters, Delivery, Durability, Feature, Inspects, JobId, Order, Page, Payload, Tier, Worker,
    WorkerError, wire,
};

use super::consumer::Consumer;
use super::line::{Message, known_as, source};
use super::server::{LEASE, MAX_BODY, MAX_NAME, Server};
use crate::broken::Defect;
use crate::{AnyCodec, Backend, Fault, Markers, NotOffered, Operator, RawCounts, RawMessage, Time};

/// The reference broker, whole or with one promise broken.
#[derive(Debug, Clone)]
pub struct Reference {
    server: Arc<Server>,
    /// Whether what is accepted survives a restart: told at `connect`, as a broker's settings are.
    careful: bool,
}

impl Reference {
    /// One that keeps all its promises.
    #[must_use]
    pub fn new() -> Self {
        Self { server: Arc::new(Server::new(None)), careful: true }
    }

    /// One that breaks one of them.
    #[must_use]
    pub fn broken(defect: Defect) -> Self {
        Self { server: Arc::new(Server::new(Some(defect))), careful: true }
    }

    fn capabilities(&self, name: &str) -> Capabilities {
        let careful = self.careful || self.server.has(Defect::SameTableEverywhere);
        let lacks = self.server.has(Defect::AcceptsAndIgnores);
        let durability = if careful { Durability::Restart } else { Durability::Broker };
        let mut can = Capabilities::new("reference", durability)
            .with(Feature::Retries, Tier::Native)
            .with(Feature::Delays, Tier::Native)
            .with(Feature::Priorities, if lacks { Tier::Absent } else { Tier::Native })
            .with(Feature::Leases, Tier::Native)
            .with(Feature::DeadLetters, Tier::Native)
            .with(Feature::Inspects, Tier::Native)
            .with(Feature::Cancels, Tier::Native)
            .with(Feature::Pauses, Tier::Native)
            .with(Feature::Fence, Tier::Native)
            .with(Feature::CrashCap, Tier::Native);
        can.queue = Some(name.into());
        can.server = Some("1".into());
        can.max_body = Some(MAX_BODY);
        can.order = Order::Queue;
        can
    }
}

impl Default for Reference {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for Reference {
    type Worker = Consumer;

    async fn connect(&self, queue: &str, codec: AnyCodec) -> Result<Consumer, WorkerError> {
        let mut queue = queue;
        if queue.is_empty() {
            return Err(WorkerError::fatal("the name of a queue has at least one byte"));
        }
        if queue.len() > MAX_NAME {
            if !self.server.has(Defect::CutsNames) {
                return Err(WorkerError::fatal(format!("the name of a queue has at most {MAX_NAME} bytes")));
            }
            queue = queue.get(..MAX_NAME).unwrap_or("cut");
        }
        Ok(Consumer::new(self.server.clone(), self.server.open_link(), queue, codec, self.capabilities(queue)))
    }

    async fn connect_many(&self, queues: &[String]) -> Option<Result<Vec<Consumer>, WorkerError>> {
        let mut link = self.server.open_link();
        let mut consumers = Vec::new();
        for queue in queues {
            if self.server.has(Defect::ConnectionPerQueue) {
                link = self.server.open_link();
            }
            let can = self.capabilities(queue);
            consumers.push(Consumer::new(self.server.clone(), link.clone(), queue, AnyCodec::default(), can));
        }
        Some(Ok(consumers))
    }

    fn connect_lazy(&self, queue: &str) -> Option<Consumer> {
        let link = self.server.open_link();
        Some(Consumer::new(self.server.clone(), link, queue, AnyCodec::default(), self.capabilities(queue)))
    }

    fn time(&self) -> Time {
        Time::Paused
    }

    fn lease(&self) -> Duration {
        LEASE
    }

    fn takeover(&self) -> Duration {
        LEASE + Duration::from_secs(1)
    }

    fn markers(&self) -> Option<Markers> {
        Some(crate::markers!(Consumer))
    }

    fn operator(&self) -> Option<&dyn Operator> {
        Some(self)
    }

    fn sibling(&self) -> Option<Self> {
        Some(Self { server: Arc::new(Server::new(self.server.defect)), careful: false })
    }
}

#[async_trait]
impl Operator for Reference {
    async fn inject(&self, fault: Fault<'_>) -> Result<(), NotOffered> {
        let server = &self.server;
        match fault {
            Fault::Cut => server.cut(false),
            Fault::Restart => server.cut(true),
            Fault::Freeze => server.links().iter().for_each(|link| link.freeze()),
            Fault::Thaw => server.links().iter().for_each(|link| link.thaw()),
            Fault::Down => server.weather.lock().away = true,
            Fault::Up => server.weather.lock().away = false,
            Fault::RefusePublishes(count) => server.weather.lock().refuse = count,
            Fault::LoseConfirms(count) => server.weather.lock().lose_confirms = count,
            Fault::FailSettles(count) => server.weather.lock().fail_settles = count,
            Fault::Full => server.weather.lock().full = true,
            Fault::Roomy => server.weather.lock().full = false,
            Fault::Delete(queue) => server.delete(queue),
        }
        server.changed.notify_waiters();
        Ok(())
    }

    async fn publish(&self, queue: &str, message: RawMessage) -> Result<(), NotOffered> {
        let line = self.server.line(queue);
        let RawMessage { body, pairs } = message;
        let name = line.next_name();
        // The ring knows it by the id that its deliveries will show.
        let own = wire::Head::read(pairs.iter().map(|(name, value)| (&**name, value.clone()))).id;
        let id = own.unwrap_or_else(|| JobId::of_name(&source(name)));
        line.push(Message { body, pairs, name }, known_as(id)).await;
        Ok(())
    }

    async fn waiting(&self, queue: &str) -> Result<Vec<RawMessage>, NotOffered> {
        let line = self.server.line(queue);
        let mut taken = VecDeque::new();
        while line.store.inspect().await.is_ok_and(|counts| counts.ready > 0) {
            if line.store.request(1_000, &mut taken).await.is_err() {
                break;
            }
        }
        // Looked at and put back: a payload that is taken with a copy stays.
        let (mut messages, mut back) = (Vec::new(), VecDeque::new());
        for Delivery { meta, payload, receipt } in taken {
            if let (Ok(message), Some(payload)) = payload.take(true) {
                back.push_back(Delivery { meta, payload, receipt });
                messages.push(RawMessage { body: message.body, pairs: message.pairs });
            }
        }
        line.store.give_back(&mut back);
        Ok(messages)
    }

    async fn dead(&self, queue: &str) -> Result<Vec<RawMessage>, NotOffered> {
        let letters = self.server.line(queue).store.dead_letters(Page::first(1_000)).await.unwrap_or_default();
        let raw = letters.into_iter().filter_map(|letter| {
            let Message { body, mut pairs, .. } = letter.payload?.take(false).0.ok()?;
            pairs.push((wire::REASON.into(), letter.cause.reason.as_str().into()));
            pairs.push((wire::ERROR.into(), letter.cause.error.to_string().into()));
            Some(RawMessage { body, pairs })
        });
        Ok(raw.collect())
    }

    async fn counts(&self, queue: &str) -> Result<RawCounts, NotOffered> {
        let line = self.server.line(queue);
        let counts = line.store.inspect().await.unwrap_or_default();
        Ok(RawCounts { ready: counts.ready, unsettled: line.held.lock().len() as u64, dead: counts.dead })
    }

    async fn connections(&self) -> Result<usize, NotOffered> {
        Ok(self.server.links().iter().filter(|link| link.is_used()).count())
    }
}
