//! A worker that counts what is asked of another, and may answer requests in its place.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use queue::core::{
    Capabilities, Clock, DeliveryOf, Demand, Entry, JobId, RequestError, Room, SettlingOf, Tally, WorkerError,
};
use queue::{Retries, Worker};
use tokio::time::Instant;

/// What a request is answered before it is passed on, by its number from 0 on. None: it is passed on.
type Answer = Box<dyn Fn(usize) -> Option<Result<(), RequestError>> + Send + Sync>;

/// Passes every call on, and counts it.
pub struct Spy<W> {
    inner: W,
    answer: Answer,
    pub calls: Arc<Calls>,
}

#[derive(Default)]
pub struct Calls {
    all: AtomicUsize,
    requests: AtomicUsize,
    request_polls: AtomicUsize,
    /// How many attempts of each job that comes have crashed their process before.
    pub crashed: AtomicU32,
}

impl<W> Spy<W> {
    pub fn new(inner: W) -> Self {
        Self::answering(inner, |_| None)
    }

    /// Requests are answered by `answer`, which may panic.
    pub fn answering(
        inner: W,
        answer: impl Fn(usize) -> Option<Result<(), RequestError>> + Send + Sync + 'static,
    ) -> Self {
        Self { inner, answer: Box::new(answer), calls: Arc::default() }
    }

    fn called(&self) -> &W {
        self.calls.all.fetch_add(1, Ordering::Relaxed);
        &self.inner
    }

    pub fn inner(&self) -> &W {
        &self.inner
    }
}

impl Calls {
    /// Calls of any method.
    pub fn all(&self) -> usize {
        self.all.load(Ordering::Relaxed)
    }

    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// How often a waiting request was polled: each poll of an idle slot is one.
    pub fn request_polls(&self) -> usize {
        self.request_polls.load(Ordering::Relaxed)
    }
}

impl<W: Retries> Retries for Spy<W> {}

impl<W: Worker> Worker for Spy<W> {
    type Job = W::Job;
    type Payload = W::Payload;
    type Receipt = W::Receipt;
    const ACK_BY_DROP: bool = W::ACK_BY_DROP;

    async fn queue(&self, jobs: &mut [Entry<W::Job>], room: Room) -> Result<(), WorkerError> {
        self.called().queue(jobs, room).await
    }

    fn try_one(&self, job: W::Job) -> Result<JobId, W::Job> {
        self.called().try_one(job)
    }

    fn demand(&self, demand: Demand) {
        self.called().demand(demand);
    }

    async fn request(&self, max: usize, into: &mut VecDeque<Delivery<W>>) -> Result<(), RequestError> {
        let number = self.calls.requests.fetch_add(1, Ordering::Relaxed);
        if let Some(answer) = (self.answer)(number) {
            return answer;
        }
        let before = into.len();
        let answer = {
            let mut request = pin!(self.called().request(max, into));
            poll_fn(|cx| {
                self.calls.request_polls.fetch_add(1, Ordering::Relaxed);
                request.as_mut().poll(cx)
            })
            .await
        };
        let crashed = self.calls.crashed.load(Ordering::Relaxed);
        into.iter_mut().skip(before).for_each(|delivery| delivery.meta.attempt += crashed);
        answer
    }

    fn give_back(&self, unstarted: &mut VecDeque<Delivery<W>>) {
        self.called().give_back(unstarted);
    }

    async fn settle(&self, batch: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        self.called().settle(batch).await
    }

    fn settle_now(&self, batch: &mut [SettlingOf<Self>]) -> bool {
        self.called().settle_now(batch)
    }

    fn close(&self) {
        self.called().close();
    }

    async fn shutdown(&self, deadline: Instant, unrun: &mut VecDeque<Delivery<W>>) -> Result<(), WorkerError> {
        self.called().shutdown(deadline, unrun).await
    }

    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn clock(&self) -> &Clock {
        self.inner.clock()
    }

    fn tally(&self) -> Tally {
        self.called().tally()
    }
}

type Delivery<W> = DeliveryOf<Spy<W>>;
