//! What the rows of the suite have in common: to publish, take, settle and wait, each within a bounded time.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Wake};
use std::time::Duration;

use parking_lot::Mutex;
use queue::Queue;
use queue_core::{
    Answer, Capabilities, DeliveryOf, Demand, Durability, Entry, ErrorClass, Extra, Feature, JobId, Payload,
    RequestError, Room, Settled, Settling, Tier, UnsettledOf, Verdict, Worker, WorkerError,
};
use tokio::time::{Instant, sleep, timeout};

use super::{Check, Stop, ensure};
use crate::{AnyCodec, Backend, Fault, Job, Operator, Time};

/// A row's place: the backend, names that nobody else has, and what it measured.
pub(crate) struct Stage<'b, B> {
    pub(crate) backend: &'b B,
    run: u64,
    names: AtomicU32,
    measured: Mutex<Vec<String>>,
}

impl<'b, B: Backend> Stage<'b, B> {
    pub(crate) fn new(backend: &'b B, run: u64) -> Self {
        Self { backend, run, names: AtomicU32::new(0), measured: Mutex::default() }
    }

    pub(crate) fn into_measured(self) -> Vec<String> {
        self.measured.into_inner()
    }

    /// Notes a figure for the report.
    pub(crate) fn measure(&self, what: impl Into<String>) {
        self.measured.lock().push(what.into());
    }

    /// The name of a queue that no other test has.
    pub(crate) fn name(&self) -> String {
        format!("conformance-{:x}-{}", self.run, self.names.fetch_add(1, Ordering::Relaxed))
    }

    /// For how long an answer may be awaited: generous, for it only ends what would hang.
    pub(crate) fn patience(&self) -> Duration {
        self.backend.takeover() * 2 + Duration::from_secs(30)
    }

    /// The result of `call`, or what did not answer.
    pub(crate) async fn within<T>(&self, what: &str, call: impl Future<Output = T>) -> Result<T, Stop> {
        let limit = self.patience();
        match timeout(limit, call).await {
            Ok(answer) => Ok(answer),
            Err(_) => Err(Stop::Failed(format!("{what} was not answered within {limit:?}"))),
        }
    }

    /// Waits until `done` holds.
    pub(crate) async fn until(&self, what: &str, mut done: impl FnMut() -> bool) -> Check {
        let limit = Instant::now() + self.patience();
        while !done() {
            ensure!(Instant::now() < limit, "{what}: not within {:?}", self.patience());
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }

    /// Lets time pass. A paused clock is moved, for a handler that blocks its thread would hold it.
    pub(crate) async fn pass(&self, time: Duration) {
        if self.backend.time() == Time::Wall {
            return sleep(time).await;
        }
        let end = Instant::now() + time;
        while Instant::now() < end {
            let step = Duration::from_millis(10).max(time / 256).min(end - Instant::now());
            tokio::time::advance(step).await;
            for _ in 0..8 {
                tokio::task::yield_now().await;
            }
        }
    }

    /// As [`until`](Self::until), where a thread of its own has to get somewhere: a paused clock stands still meanwhile.
    pub(crate) async fn until_by_steps(&self, what: &str, mut done: impl FnMut() -> bool) -> Check {
        let mut looks = 0_u32;
        while !done() {
            looks += 1;
            ensure!(looks < 20_000, "{what}: not after {looks} looks");
            let look = tokio::task::spawn_blocking(|| std::thread::park_timeout(Duration::from_millis(1)));
            ensure!(look.await.is_ok(), "{what}: no thread to wait on");
        }
        Ok(())
    }

    // ===== Connections =====

    pub(crate) async fn connect(&self, queue: &str) -> Result<B::Worker, Stop> {
        self.connect_with(queue, AnyCodec::default()).await
    }

    pub(crate) async fn connect_with(&self, queue: &str, codec: AnyCodec) -> Result<B::Worker, Stop> {
        let worker = self.within("`connect`", self.backend.connect(queue, codec)).await?;
        let worker = worker.map_err(|error| Stop::Failed(format!("`connect` failed: {error}")))?;
        worker.demand(Demand::of(1));
        Ok(worker)
    }

    /// A worker of a fresh queue, and the queue's name.
    pub(crate) async fn fresh(&self) -> Result<(B::Worker, String), Stop> {
        let name = self.name();
        Ok((self.connect(&name).await?, name))
    }

    // ===== Publish =====

    pub(crate) async fn publish(&self, worker: &B::Worker, job: Job) -> Result<JobId, Stop> {
        self.publish_with(worker, job, Extra::default()).await
    }

    pub(crate) async fn publish_with(&self, worker: &B::Worker, job: Job, extra: Extra) -> Result<JobId, Stop> {
        let entry = self.send(worker, Entry::with_extra(job, extra)).await?;
        entry.accepted().ok_or_else(|| Stop::Failed(format!("a publish was answered {:?}", entry.answer())))
    }

    /// Publishes numbered jobs, in one call.
    pub(crate) async fn publish_many(
        &self,
        worker: &B::Worker,
        numbers: std::ops::Range<u64>,
    ) -> Result<Vec<JobId>, Stop> {
        let mut entries: Vec<Entry<Job>> = numbers.map(|number| Entry::new(Job::new(number))).collect();
        self.send_all(worker, &mut entries).await?;
        entries
            .iter()
            .map(|entry| {
                entry.accepted().ok_or_else(|| Stop::Failed(format!("a publish was answered {:?}", entry.answer())))
            })
            .collect()
    }

    pub(crate) async fn send(&self, worker: &B::Worker, entry: Entry<Job>) -> Result<Entry<Job>, Stop> {
        let mut entries = [entry];
        self.send_all(worker, &mut entries).await?;
        let [entry] = entries;
        Ok(entry)
    }

    /// One call of `queue`, again while the transport fails; each entry is answered afterwards.
    pub(crate) async fn send_all(&self, worker: &B::Worker, entries: &mut [Entry<Job>]) -> Check {
        let limit = Instant::now() + self.patience();
        loop {
            let answer = self.within("`queue`", worker.queue(entries, Room::Wait)).await?;
            match answer {
                Ok(()) => break,
                Err(error) if passing(&error) && Instant::now() < limit => sleep(Duration::from_millis(50)).await,
                Err(error) => return Err(Stop::Failed(format!("`queue` failed: {error}"))),
            }
        }
        ensure!(
            entries.iter().all(|entry| !matches!(entry.answer(), Answer::Open)),
            "`queue` was ready and left an entry unanswered"
        );
        Ok(())
    }

    // ===== Take =====

    pub(crate) async fn take(&self, worker: &B::Worker) -> Result<DeliveryOf<B::Worker>, Stop> {
        let mut got = self.take_up_to(worker, 1).await?;
        got.pop_front().ok_or_else(|| Stop::Failed("`request` was ready without a delivery".to_owned()))
    }

    /// One request; transport errors are asked about again.
    pub(crate) async fn take_up_to(
        &self,
        worker: &B::Worker,
        max: usize,
    ) -> Result<VecDeque<DeliveryOf<B::Worker>>, Stop> {
        let mut got = VecDeque::new();
        let limit = Instant::now() + self.patience();
        loop {
            match self.within("`request`, with a job that could be handed out,", worker.request(max, &mut got)).await? {
                Ok(()) => break,
                Err(RequestError::Worker(error)) if passing(&error) && Instant::now() < limit => {
                    sleep(Duration::from_millis(50)).await;
                }
                Err(error) => return Err(Stop::Failed(format!("`request` failed: {error}"))),
            }
        }
        ensure!(!got.is_empty(), "`request` was ready without a delivery");
        ensure!(got.len() <= max, "`request` for {max} handed out {}", got.len());
        Ok(got)
    }

    /// So many deliveries, one by one, all held at once.
    pub(crate) async fn hold(&self, worker: &B::Worker, count: usize) -> Result<Vec<DeliveryOf<B::Worker>>, Stop> {
        let mut held = Vec::with_capacity(count);
        worker.demand(Demand::of(count));
        while held.len() < count {
            held.push(self.take(worker).await?);
        }
        Ok(held)
    }

    /// Nothing is handed out for `time`.
    pub(crate) async fn quiet(&self, worker: &B::Worker, time: Duration, why: &str) -> Check {
        let mut got = VecDeque::new();
        match timeout(time, worker.request(1, &mut got)).await {
            Err(_) => Ok(()),
            Ok(Ok(())) => {
                let numbers: Vec<_> =
                    got.into_iter().map(|delivery| (delivery.meta.attempt, number(delivery))).collect();
                Err(Stop::Failed(format!("{why}: yet (attempt, job) {numbers:?} was handed out")))
            }
            Ok(Err(error)) => Err(Stop::Failed(format!("{why}: `request` failed: {error}"))),
        }
    }

    /// Takes and acknowledges everything there is: the numbers, in order. Ends once nothing came for `calm`.
    pub(crate) async fn drain(&self, worker: &B::Worker, calm: Duration) -> Result<Vec<u64>, Stop> {
        let mut numbers = Vec::new();
        loop {
            let mut got = VecDeque::new();
            match timeout(calm, worker.request(1, &mut got)).await {
                Err(_) => return Ok(numbers),
                Ok(Err(RequestError::Worker(error))) if passing(&error) => sleep(Duration::from_millis(50)).await,
                Ok(Err(error)) => return Err(Stop::Failed(format!("`request` failed: {error}"))),
                Ok(Ok(())) => {
                    for delivery in got {
                        let (job, unsettled) = open(delivery);
                        numbers.push(job.map_or(u64::MAX, |job| job.number));
                        self.settle(worker, unsettled, Verdict::Ack).await?;
                    }
                }
            }
        }
    }

    // ===== Settle =====

    /// Settles, again while the transport fails.
    pub(crate) async fn settle(
        &self,
        worker: &B::Worker,
        unsettled: impl Into<UnsettledOf<B::Worker>>,
        verdict: Verdict,
    ) -> Result<Settled, Stop> {
        let mut settling = [Settling::new(unsettled.into(), verdict)];
        let limit = Instant::now() + self.patience();
        loop {
            let answer = if worker.settle_now(&mut settling) {
                Ok(())
            } else {
                self.within("`settle`", worker.settle(&mut settling)).await?
            };
            match (settling[0].answered(), answer) {
                (Some(settled), _) => return Ok(settled),
                (None, Ok(())) => return Err(Stop::Failed("`settle` was Ok and left a verdict unanswered".to_owned())),
                (None, Err(error)) if passing(&error) && Instant::now() < limit => {
                    sleep(Duration::from_millis(50)).await;
                }
                (None, Err(error)) => return Err(Stop::Failed(format!("`settle` failed: {error}"))),
            }
        }
    }

    /// Settles what is ours.
    pub(crate) async fn settle_ours(
        &self,
        worker: &B::Worker,
        unsettled: impl Into<UnsettledOf<B::Worker>>,
        verdict: Verdict,
    ) -> Check {
        let said = format!("{verdict:?}");
        let settled = self.settle(worker, unsettled, verdict).await?;
        ensure!(
            settled == Settled::Done,
            "a delivery that is ours was settled with {said}, and the answer was {settled:?}"
        );
        Ok(())
    }

    pub(crate) async fn shutdown(&self, worker: &B::Worker) -> Check {
        let mut unrun = VecDeque::new();
        let ended = self.within("`shutdown`", worker.shutdown(Instant::now() + self.patience(), &mut unrun)).await?;
        ended.map_err(|error| Stop::Failed(format!("`shutdown` failed: {error}")))
    }

    /// Ends a queue in order.
    pub(crate) async fn end<W: Worker>(&self, queue: &Queue<W>) -> Check {
        let ended = self.within("the shutdown of a queue", queue.shutdown(self.patience())).await?;
        match ended {
            Ok(report) if report.is_complete() => Ok(()),
            Ok(_) => Err(Stop::Failed("a queue without work did not end within its deadline".to_owned())),
            Err(error) => Err(Stop::Failed(format!("a queue's shutdown failed: {error}"))),
        }
    }

    // ===== What it claims =====

    /// Goes on where the worker claims `feature`.
    pub(crate) fn claims(&self, worker: &B::Worker, feature: Feature) -> Check {
        if worker.capabilities().has(feature) { Ok(()) } else { Err(Stop::skip(format!("it claims no {feature}"))) }
    }

    /// Goes on where its jobs outlive the process, so that a second consumer can have them.
    pub(crate) fn outlives(&self, worker: &B::Worker) -> Check {
        if outlives(worker.capabilities()) {
            Ok(())
        } else {
            Err(Stop::skip("its jobs die with the process: there is no second consumer".to_owned()))
        }
    }

    pub(crate) fn operator(&self) -> Result<&'b dyn Operator, Stop> {
        self.backend.operator().ok_or_else(|| Stop::Unproven("`Backend::operator`".to_owned()))
    }

    pub(crate) async fn inject(&self, fault: Fault<'_>) -> Check {
        let done = self.operator()?.inject(fault).await;
        done.map_err(|_| Stop::Unproven(format!("`Fault::{fault:?}`")))
    }
}

/// A future that is polled only where it was woken, as a task of its own would be.
pub(crate) struct Alone<F> {
    future: Pin<Box<F>>,
    woken: Arc<Woken>,
    ready: bool,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        // SeqCst: what was done before the wake is seen by the poll; nothing is measured here.
        self.0.store(true, Ordering::SeqCst);
    }
}

impl<F: Future> Alone<F> {
    pub(crate) fn new(future: F) -> Self {
        Self { future: Box::pin(future), woken: Arc::new(Woken(AtomicBool::new(true))), ready: false }
    }

    pub(crate) fn is_ready(&mut self) -> bool {
        if !self.ready && self.woken.0.swap(false, Ordering::SeqCst) {
            let waker = self.woken.clone().into();
            self.ready = self.future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        }
        self.ready
    }
}

/// What outlives its process is shared by consumers.
pub(crate) fn outlives(can: &Capabilities) -> bool {
    can.durability > Durability::Process
}

/// Whether a wait at the worker survives the consumer that asked for it.
pub(crate) fn durable(can: &Capabilities, feature: Feature) -> bool {
    outlives(can) && matches!(can.tier(feature), Tier::Native | Tier::EmulatedDurable)
}

fn passing(error: &WorkerError) -> bool {
    error.class() != ErrorClass::Fatal
}

/// The job, and the delivery to settle.
pub(crate) fn open<P: Payload<Job = Job>, R>(
    delivery: queue_core::Delivery<P, R>,
) -> (Result<Job, queue_core::Undecodable>, queue_core::Unsettled<P, R>) {
    let queue_core::Delivery { meta, payload, receipt } = delivery;
    let (job, payload) = payload.take(true);
    (job, queue_core::Unsettled { meta, payload, receipt })
}

/// The number of the job in a delivery that nobody needs any more.
pub(crate) fn number<P: Payload<Job = Job>, R>(delivery: queue_core::Delivery<P, R>) -> u64 {
    delivery.payload.take(false).0.map_or(u64::MAX, |job| job.number)
}
