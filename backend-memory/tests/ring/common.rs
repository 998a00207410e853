//! Jobs in and out of a worker, and futures that are polled by hand.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use queue_core::{
    Answer, Delivery, DeliveryOf, Entry, Extra, JobId, Payload, Refusal, RequestError, Room, Settled, Settling,
    Verdict, Worker,
};
use tokio::time::Instant;

/// Long enough for the slowest machine: only a deadlock or a lost wake-up takes that long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn extra(set: impl FnOnce(&mut Extra)) -> Extra {
    let mut extra = Extra::default();
    set(&mut extra);
    extra
}

/// Queues a job that must be accepted.
pub(crate) fn push<W: Worker>(worker: &W, job: W::Job) -> JobId {
    put(worker, Entry::new(job))
}

/// The same for many.
pub(crate) fn push_all<W: Worker>(worker: &W, jobs: impl IntoIterator<Item = W::Job>) -> Vec<JobId> {
    jobs.into_iter().map(|job| push(worker, job)).collect()
}

/// The same with a priority.
pub(crate) fn push_urgent<W: Worker>(worker: &W, job: W::Job, priority: u8) -> JobId {
    put(worker, Entry::with_extra(job, extra(|extra| extra.priority = priority)))
}

/// The same with a delay.
pub(crate) fn push_later<W: Worker>(worker: &W, job: W::Job, delay: Duration) -> JobId {
    put(worker, Entry::with_extra(job, extra(|extra| extra.delay = Some(delay))))
}

pub(crate) fn put<W: Worker>(worker: &W, entry: Entry<W::Job>) -> JobId {
    try_put(worker, entry).map_err(|refused| format!("{:?}", refused.answer())).unwrap()
}

/// Queues an entry if there is room now.
pub(crate) fn try_put<W: Worker>(worker: &W, mut entry: Entry<W::Job>) -> Result<JobId, Entry<W::Job>> {
    now(worker.queue(std::slice::from_mut(&mut entry), Room::Refuse)).unwrap();
    match entry.answer() {
        Answer::Accepted(id) => Ok(*id),
        _ => Err(entry),
    }
}

/// Queues a job that must be refused: why, and the job.
pub(crate) fn refused<W: Worker>(worker: &W, job: W::Job) -> (Refusal, W::Job) {
    let job = worker.try_one(job).unwrap_err();
    refusal(try_put(worker, Entry::new(job)).unwrap_err())
}

pub(crate) fn refusal<J>(mut entry: Entry<J>) -> (Refusal, J) {
    let Answer::Refused(why) = entry.reopen() else { panic!("neither accepted nor refused") };
    (why, entry.into_job().unwrap())
}

/// An enqueue that waits for room.
pub(crate) async fn enqueue<W: Worker>(worker: &W, job: W::Job) -> Result<JobId, (Refusal, W::Job)> {
    let mut entry = Entry::new(job);
    worker.queue(std::slice::from_mut(&mut entry), Room::Wait).await.unwrap();
    if let Answer::Accepted(id) = entry.answer() { Ok(*id) } else { Err(refusal(entry)) }
}

/// A request that owns what it gets.
pub(crate) async fn request<W: Worker>(worker: &W, max: usize) -> Result<VecDeque<DeliveryOf<W>>, RequestError> {
    let mut got = VecDeque::new();
    worker.request(max, &mut got).await?;
    assert!((1..=max).contains(&got.len()), "{} of at most {max}", got.len());
    Ok(got)
}

/// What is there now, up to `max`; nothing where a request would wait or the worker is closed.
pub(crate) fn take<W: Worker>(worker: &W, max: usize) -> VecDeque<DeliveryOf<W>> {
    match Task::new(request(worker, max)).poll() {
        Poll::Ready(Ok(got)) => got,
        Poll::Ready(Err(_)) | Poll::Pending => VecDeque::new(),
    }
}

pub(crate) fn take_one<W: Worker>(worker: &W) -> DeliveryOf<W> {
    take(worker, 1).pop_front().unwrap()
}

/// The jobs of `max` at most.
pub(crate) fn pop<W: Worker>(worker: &W, max: usize) -> Vec<W::Job> {
    jobs(take(worker, max))
}

/// All that is there, one by one.
pub(crate) fn drain<W: Worker>(worker: &W) -> Vec<W::Job> {
    std::iter::from_fn(|| pop(worker, 1).pop()).collect()
}

pub(crate) fn job<P: Payload, R>(delivery: Delivery<P, R>) -> P::Job {
    delivery.payload.take(false).0.unwrap()
}

pub(crate) fn jobs<P: Payload, R>(deliveries: impl IntoIterator<Item = Delivery<P, R>>) -> Vec<P::Job> {
    deliveries.into_iter().map(job).collect()
}

pub(crate) fn settle<W: Worker>(worker: &W, delivery: DeliveryOf<W>, verdict: Verdict) -> Settled {
    let mut settling = Settling::new(delivery.into(), verdict);
    assert!(worker.settle_now(std::slice::from_mut(&mut settling)));
    settling.answered().unwrap()
}

pub(crate) const fn retry(after: Duration) -> Verdict {
    Verdict::Retry { after }
}

pub(crate) const BACK: Verdict = Verdict::Return { after: Duration::ZERO };

pub(crate) fn shutdown<W: Worker>(worker: &W) -> VecDeque<DeliveryOf<W>> {
    let mut unrun = VecDeque::new();
    now(worker.shutdown(Instant::now(), &mut unrun)).unwrap();
    unrun
}

/// What a call answers that must not wait.
pub(crate) fn now<F: Future>(future: F) -> F::Output {
    match Task::new(future).poll() {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

/// Counts wakes.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A future that is polled by hand, and counts how often it was woken.
pub(crate) struct Task<'a, T> {
    future: Pin<Box<dyn Future<Output = T> + 'a>>,
    wakes: Arc<Wakes>,
    heard: usize,
}

impl<'a, T> Task<'a, T> {
    pub(crate) fn new(future: impl Future<Output = T> + 'a) -> Self {
        Self { future: Box::pin(future), wakes: Arc::default(), heard: 0 }
    }

    /// The same, polled once: it waits.
    pub(crate) fn waiting(future: impl Future<Output = T> + 'a) -> Self {
        let mut task = Self::new(future);
        assert!(task.poll().is_pending());
        task
    }

    pub(crate) fn poll(&mut self) -> Poll<T> {
        self.heard = self.wakes();
        let waker = Waker::from(self.wakes.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    /// How often it was woken so far.
    pub(crate) fn wakes(&self) -> usize {
        self.wakes.0.load(Ordering::SeqCst)
    }

    /// Woken since the last poll.
    pub(crate) fn is_woken(&self) -> bool {
        self.wakes() > self.heard
    }
}

/// Polls those that were woken, and only those, until none is; finished ones leave, with what they answered.
pub(crate) fn run<T>(tasks: &mut Vec<Task<'_, T>>) -> Vec<T> {
    let mut answers = Vec::new();
    while let Some(at) = tasks.iter().position(Task::is_woken) {
        if let Poll::Ready(answer) = tasks[at].poll() {
            answers.push(answer);
            drop(tasks.remove(at));
        }
    }
    answers
}

/// Runs what might deadlock on a thread of its own.
pub(crate) fn within<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, answer) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    answer.recv_timeout(PATIENCE).expect("neither a deadlock nor a panic")
}
