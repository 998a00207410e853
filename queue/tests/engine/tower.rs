//! tower services as handlers: the same results as a plain handler, and a wait for readiness that holds nothing up.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use crate::tokio;
use ::tower::util::BoxCloneSyncService;
use ::tower::{BoxError, Service, ServiceBuilder, service_fn};
use queue::{
    Error, Handler, HandlerResult, Outcome, Queue, Reason, Retry, Ring, RouteOptions, Routed, Routes, service,
};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};

use crate::common::{Gate, LONG, dead, end, ms, until};

/// A running handler of any kind.
type Run<R> = Pin<Box<dyn Future<Output = Result<R, Error>> + Send>>;

/// What each job below does.
fn work(job: u32) -> Run<()> {
    assert!(job != 4, "planned: before its future");
    Box::pin(async move {
        yield_now().await;
        match job {
            2 => Err(Error::new("passing")),
            3 => Err(Error::permanent("lasting")),
            5 => panic!("planned: in its future"),
            6 => std::future::pending().await,
            _ => Ok(()),
        }
    })
}

/// The same with the response of an outcome.
fn outcome(job: u32) -> Run<Outcome> {
    let run = work(job);
    Box::pin(async move {
        Ok(match job {
            7 => Outcome::retry_after(ms(5)),
            8 => Outcome::failed(Error::permanent("said no")),
            _ => run.await.map(|()| Outcome::done())?,
        })
    })
}

/// A service that is ready after so many polls of each clone, and refuses to be called before.
#[derive(Clone)]
struct After<F> {
    polls: usize,
    work: F,
    calls: Arc<AtomicUsize>,
}

impl<F> After<F> {
    fn new(polls: usize, work: F) -> Self {
        Self { polls, work, calls: Arc::default() }
    }
}

impl<R, F: FnMut(u32) -> Run<R>> Service<u32> for After<F> {
    type Response = R;
    type Error = Error;
    type Future = Run<R>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.polls == 0 {
            return Poll::Ready(Ok(()));
        }
        self.polls -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn call(&mut self, job: u32) -> Run<R> {
        assert_eq!(self.polls, 0, "called before it was ready");
        self.calls.fetch_add(1, Ordering::Relaxed);
        (self.work)(job)
    }
}

/// A service whose readiness is `ready`.
#[derive(Clone)]
struct Readiness(fn(&mut Context<'_>) -> Poll<Result<(), Error>>);

impl Service<u32> for Readiness {
    type Response = ();
    type Error = Error;
    type Future = Run<()>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0(cx)
    }

    fn call(&mut self, job: u32) -> Run<()> {
        work(job)
    }
}

/// What became of the jobs 1 to 8 under this handler: all counts, and each dead letter.
async fn results<M: 'static>(
    handler: impl Handler<M, u32, (), Output: HandlerResult, Future: Send>,
) -> (String, Vec<String>) {
    let builder = Queue::with_worker(Ring::new()).slots(1).retry(Retry::fixed(2, ms(10))).timeout(ms(100));
    let queue = builder.start(handler).unwrap();
    queue.enqueue_many(1..=8).await.unwrap();
    sleep(LONG).await;
    let stats = queue.stats();
    assert_eq!(stats.done + stats.dead, 8);
    let letters = dead(&queue).await;
    let letters = letters.iter().map(|letter| format!("{} {} {}", letter.meta.id, letter.meta.attempt, letter.cause));
    let mut letters: Vec<_> = letters.map(|letter| letter.split_once(' ').unwrap().1.to_owned()).collect();
    letters.sort();
    (format!("{stats:?}"), letters)
}

/// E-41
#[tokio::test(start_paused = true)]
async fn a_service_fares_as_a_plain_handler() {
    let plain = results(work).await;
    assert_eq!(plain.1.len(), 5, "{plain:?}");
    assert_eq!(results(service(service_fn(work))).await, plain);
    assert_eq!(results(service(After::new(0, work))).await, plain);
    let late = After::new(3, work);
    let calls = late.calls.clone();
    assert_eq!(results(service(late)).await, plain);
    // Each attempt called once: three jobs are done, four take all three attempts, one only its first.
    assert_eq!(calls.load(Ordering::Relaxed), 3 + 4 * 3 + 1);

    let plain = results(|job| async move { outcome(job).await.unwrap_or_else(Outcome::failed) }).await;
    assert_eq!(plain.1.len(), 7, "{plain:?}");
    assert_eq!(results(service(After::new(1, outcome))).await, plain);
}

/// E-41: what happens while it gets ready happens to the attempt.
#[tokio::test(start_paused = true)]
async fn readiness_that_fails_panics_or_never_comes_is_the_attempt_s() {
    let cases: [(fn(&mut Context<'_>) -> _, _, _); 4] = [
        (|_| Poll::Ready(Err(Error::new("no printer"))), "attempts exhausted: no printer", [2, 0, 0]),
        (|_| Poll::Ready(Err(Error::permanent("on fire"))), "permanent error: on fire", [1, 0, 0]),
        (|_| panic!("planned: not ready"), "attempts exhausted: panicked: planned: not ready", [0, 2, 0]),
        (|_| Poll::Pending, "attempts exhausted: timeout", [0, 0, 2]),
    ];
    for (ready, cause, counts) in cases {
        let builder = Queue::with_worker(Ring::new()).slots(1).retry(Retry::fixed(1, ms(10))).timeout(ms(100));
        let queue = builder.start(service(Readiness(ready))).unwrap();
        queue.enqueue(1).await.unwrap();
        sleep(LONG).await;
        let letter = dead(&queue).await.remove(0);
        assert_eq!(letter.cause.to_string(), cause);
        let stats = queue.stats();
        assert_eq!([stats.failed, stats.panicked, stats.timed_out], counts, "{cause}");
        drop(end(&queue).await);
    }
}

/// E-41, E-78, E-81: a service that is never ready holds up no shutdown, and its jobs are handed back.
#[tokio::test(start_paused = true)]
async fn a_service_that_is_never_ready_loses_no_job() {
    let queue = Queue::with_worker(Ring::new()).slots(2).start(service(Readiness(|_| Poll::Pending))).unwrap();
    queue.enqueue_many(1..=5).await.unwrap();
    until(|| queue.stats().running == 2).await;
    let start = Instant::now();
    let report = queue.shutdown(ms(500)).await.unwrap();
    assert!((ms(500)..ms(1_500)).contains(&start.elapsed()), "{:?}", start.elapsed());
    assert!(report.is_complete());
    let mut unrun: Vec<_> = report.take_unrun().into_iter().map(|unrun| unrun.job.unwrap()).collect();
    unrun.sort_unstable();
    assert_eq!(unrun, [1, 2, 3, 4, 5]);
    assert_eq!((report.stats().done, report.stats().dead, report.stats().failed), (0, 0, 0));
}

/// E-41: a layer that all clones share bounds them all.
#[tokio::test(start_paused = true)]
async fn a_concurrency_limit_holds_over_all_slots() {
    let gate = Gate::new();
    let (running, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (pass, now, most) = (gate.clone(), running.clone(), peak.clone());
    let print = ServiceBuilder::new().concurrency_limit(2).service_fn(move |_: u32| {
        let (pass, now, most) = (pass.clone(), now.clone(), most.clone());
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            pass.pass().await;
            now.fetch_sub(1, Ordering::Relaxed);
            Ok::<(), Error>(())
        }
    });
    let queue = Queue::with_worker(Ring::new()).slots(8).start(service(print)).unwrap();
    queue.enqueue_many(1..=20).await.unwrap();
    until(|| queue.stats().running == 8 && running.load(Ordering::Relaxed) == 2).await;
    gate.open(20);
    assert_eq!(end(&queue).await.stats().done, 20);
    assert_eq!(peak.load(Ordering::Relaxed), 2);
}

/// E-41: layers that box errors, a buffer in front of a service that is not `Clone`, and a service whose type is erased.
#[tokio::test(start_paused = true)]
async fn buffer_timeout_and_an_erased_service() {
    struct Single(u32);
    impl Service<u32> for Single {
        type Response = ();
        type Error = BoxError;
        type Future = std::future::Ready<Result<(), BoxError>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, job: u32) -> Self::Future {
            self.0 += 1;
            std::future::ready(if job == 1 { Err("one".into()) } else { Ok(()) })
        }
    }
    let start = || Queue::with_worker(Ring::new()).slots(2).retry(Retry::fixed(1, ms(10)));
    let buffered = ServiceBuilder::new().buffer(4).service(Single(0));
    let queue = start().start(service(buffered)).unwrap();
    queue.enqueue_many(1..=9).await.unwrap();
    until(|| queue.stats().done == 8 && queue.stats().waiting == 1).await;
    sleep(LONG).await;
    assert_eq!((queue.stats().failed, queue.stats().dead), (2, 1));
    assert_eq!(&*dead(&queue).await[0].cause.error, "one");
    drop(end(&queue).await);

    let slow =
        service_fn(|_: u32| async { poll_fn(|_| Poll::<Result<(), Error>>::Pending).await.map_err(BoxError::from) });
    let slow = ServiceBuilder::new().layer(BoxCloneSyncService::layer()).timeout(ms(20)).service(slow);
    let queue = start().start(service(slow)).unwrap();
    queue.enqueue(1).await.unwrap();
    sleep(LONG).await;
    let letter = dead(&queue).await.remove(0);
    assert_eq!((letter.cause.reason, &*letter.cause.error), (Reason::AttemptsExhausted, "request timed out"));
    assert_eq!((queue.stats().failed, queue.stats().timed_out), (2, 0));
    drop(end(&queue).await);
}

/// E-41, E-102
#[tokio::test(start_paused = true)]
async fn a_service_is_the_handler_of_a_route() {
    let once = RouteOptions::new().retry(Retry::none()).timeout(ms(50));
    let routes = Routes::new().on("work", service(service_fn(work))).on_with(
        "never",
        once,
        service(Readiness(|_| Poll::Pending)),
    );
    let queue = Queue::with_worker(Ring::new()).slots(1).start(routes).unwrap();
    queue.enqueue(Routed::json("work", &1).unwrap()).await.unwrap();
    queue.enqueue(Routed::json("never", &1).unwrap()).await.unwrap();
    sleep(ms(200)).await;
    assert_eq!((queue.stats().done, queue.stats().timed_out, queue.stats().dead), (1, 1, 1));
    drop(end(&queue).await);
}
