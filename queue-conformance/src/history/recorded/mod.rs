//! A worker whose calls are noted.

mod operate;
mod publish;
mod receipt;
mod settle;

pub use receipt::Noted;

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use queue_core::{
    Capabilities, Clock, Delivery, DeliveryOf, Demand, Durability, Entry, Events, Facets, JobId, RequestError, Room,
    SettlingOf, Tally, Worker, WorkerError,
};
use tokio::time::Instant;

use self::operate::Operating;
use self::publish::{Publishing, publish};
use self::settle::Opened;
use super::event::{Answered, Ask, Event, Hex, How, Left, Place, Refused, Settle, Settled, Why};
use super::{Fingerprint, Recorder, Step};

/// Any worker, with each publish, delivery and settle noted around the call of the inner one.
///
/// It does what the inner worker does. An ack always reaches it as a settle, so that it is seen. Of a worker whose jobs outlive the process,
/// [`try_one`](Worker::try_one) and [`settle_now`](Worker::settle_now) are left to [`queue`](Worker::queue) and
/// [`settle`](Worker::settle), which asks `settle_now` first. Where the claims of the log have an order, requests take turns poll by poll.
pub struct Recorded<W> {
    inner: Operating<W>,
}

impl<W: Worker> Recorded<W> {
    /// `worker`, noted by `recorder`.
    #[must_use]
    pub fn new(worker: W, recorder: &Recorder) -> Self {
        Self { inner: Operating { worker, recorder: recorder.clone() } }
    }

    /// The worker inside. What it is asked directly is not noted.
    #[must_use]
    pub const fn inner(&self) -> &W {
        &self.inner.worker
    }

    const fn recorder(&self) -> &Recorder {
        &self.inner.recorder
    }

    /// Whether it answers without its broker: jobs that die with the process are in its memory.
    fn answers_at_once(&self) -> bool {
        self.inner().capabilities().durability == Durability::Process
    }

    /// Notes a delivery, and puts its number on the receipt.
    fn noted(&self, delivery: DeliveryOf<W>) -> DeliveryOf<Self>
    where
        W::Job: Fingerprint,
    {
        let Delivery { meta, payload, receipt } = delivery;
        let receipt = Noted::deliver(&meta, receipt, self.recorder());
        Delivery { meta, payload, receipt }
    }
}

impl<W> fmt::Debug for Recorded<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("recorder", &self.inner.recorder).finish_non_exhaustive()
    }
}

impl<W: Worker<Job: Fingerprint>> Worker for Recorded<W> {
    type Job = W::Job;
    type Payload = W::Payload;
    type Receipt = Noted<W::Receipt>;

    async fn queue(&self, jobs: &mut [Entry<W::Job>], room: Room) -> Result<(), WorkerError> {
        let publishing = Publishing::new(jobs, self.recorder());
        let answer = self.inner().queue(publishing.jobs, room).await;
        self.recorder().pass(Step::AfterPublish);
        drop(publishing);
        answer
    }

    fn try_one(&self, job: W::Job) -> Result<JobId, W::Job> {
        if !self.answers_at_once() {
            return Err(job);
        }
        let recorder = self.recorder();
        let n = recorder.publishes(1);
        recorder.note(Event::Publish(publish(n, &job, None, None)));
        recorder.pass(Step::BeforePublish);
        let answer = self.inner().try_one(job);
        recorder.pass(Step::AfterPublish);
        recorder.note(match &answer {
            Ok(id) => Event::Confirmed(Answered { n, id: Hex(id.get()) }),
            Err(_) => Event::Refused(Refused { n, why: Why::NotSent }),
        });
        answer
    }

    fn demand(&self, demand: Demand) {
        self.inner().demand(demand);
    }

    async fn request(&self, max: usize, into: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), RequestError> {
        let mut taken = VecDeque::new();
        let (answer, turn) = {
            let mut request = pin!(self.inner().request(max, &mut taken));
            poll_fn(|cx| {
                let turn = self.recorder().turn();
                match request.as_mut().poll(cx) {
                    Poll::Ready(answer) => Poll::Ready((answer, turn)),
                    Poll::Pending => Poll::Pending,
                }
            })
            .await
        };
        let count = taken.len();
        into.extend(taken.into_iter().map(|delivery| self.noted(delivery)));
        drop(turn);
        (0..count).for_each(|_| self.recorder().pass(Step::Fetched));
        answer
    }

    fn give_back(&self, unstarted: &mut VecDeque<DeliveryOf<Self>>) {
        let recorder = self.recorder();
        let (mut own, mut numbers) = (VecDeque::with_capacity(unstarted.len()), Vec::with_capacity(unstarted.len()));
        for Delivery { meta, payload, receipt } in unstarted.drain(..) {
            let Some((receipt, d)) = receipt.open() else { continue };
            recorder.note(Event::Settle(Settle { d, v: Ask::Return, after: None }));
            numbers.push((meta.id, meta.attempt, d));
            own.push_back(Delivery { meta, payload, receipt });
        }
        self.inner().give_back(&mut own);
        // What was left is known again by id and attempt.
        for Delivery { meta, payload, receipt } in own {
            let at = numbers.iter().position(|(id, attempt, _)| (*id, *attempt) == (meta.id, meta.attempt));
            let Some((.., d)) = at.map(|at| numbers.remove(at)) else { continue };
            recorder.note(Event::Settled(Settled { d, how: How::Kept }));
            let receipt = Noted::again(d, receipt, recorder);
            unstarted.push_back(Delivery { meta, payload, receipt });
        }
        for (.., d) in numbers {
            recorder.note(Event::Settled(Settled { d, how: How::Done }));
        }
    }

    async fn settle(&self, batch: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        let mut opened = Opened::<W>::new(batch, self.recorder());
        let answer =
            if self.inner().settle_now(&mut opened.own) { Ok(()) } else { self.inner().settle(&mut opened.own).await };
        opened.answer();
        self.recorder().pass(Step::AfterSettle);
        answer
    }

    fn settle_now(&self, batch: &mut [SettlingOf<Self>]) -> bool {
        if !self.answers_at_once() {
            return batch.iter().all(|settling| settling.answered().is_some());
        }
        let mut opened = Opened::<W>::new(batch, self.recorder());
        let all = self.inner().settle_now(&mut opened.own);
        opened.keep();
        self.recorder().pass(Step::AfterSettle);
        all
    }

    fn close(&self) {
        self.inner().close();
    }

    async fn shutdown(&self, deadline: Instant, unrun: &mut VecDeque<DeliveryOf<Self>>) -> Result<(), WorkerError> {
        let mut own = HandedOver { own: VecDeque::new(), unrun, worker: self };
        self.inner().shutdown(deadline, &mut own.own).await
    }

    fn capabilities(&self) -> &Capabilities {
        self.inner().capabilities()
    }

    fn clock(&self) -> &Clock {
        self.inner().clock()
    }

    fn tally(&self) -> Tally {
        self.inner().tally()
    }

    fn events(&self) -> Events {
        self.inner().events()
    }

    fn facets(&self) -> Facets<'_, Self> {
        self.inner.facets()
    }
}

/// What a shutdown hands over. Its drop passes it on: a shutdown that is dropped half way loses nothing.
struct HandedOver<'a, W: Worker<Job: Fingerprint>> {
    own: VecDeque<DeliveryOf<W>>,
    unrun: &'a mut VecDeque<DeliveryOf<Recorded<W>>>,
    worker: &'a Recorded<W>,
}

impl<W: Worker<Job: Fingerprint>> Drop for HandedOver<'_, W> {
    fn drop(&mut self) {
        let recorder = self.worker.recorder();
        for Delivery { meta, payload, receipt } in self.own.drain(..) {
            recorder.note(Event::Left(Left { id: Hex(meta.id.get()), place: Place::HandedOver }));
            self.unrun.push_back(Delivery { meta, payload, receipt: Noted::handed_over(receipt, recorder) });
        }
    }
}
