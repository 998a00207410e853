//! What is set on the job beats what is set on its route, and that what is set on the queue.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::tokio;
use parking_lot::Mutex;
use queue::{Backoff, Builder, Context, DeadLetters, Page, Queue, Reason, Retry, Ring, RouteOptions, Routed, Routes};
use tokio::time::{Instant, sleep};

use crate::common::{LONG, Spy, dead, end, ms};

/// When each attempt started, of how many, and how many milliseconds it may take.
type Starts = Arc<Mutex<Vec<(Instant, u32, Option<u128>)>>>;

type Failing = Pin<Box<dyn Future<Output = Result<(), &'static str>> + Send>>;

/// A handler that takes as many milliseconds as the job says, and fails.
fn failing(starts: &Starts) -> impl Fn(u64, Context) -> Failing + use<> {
    let starts = starts.clone();
    move |job, cx: Context| {
        let now = Instant::now();
        starts.lock().push((now, cx.attempts(), cx.times_out_at().map(|ends| (ends - now).as_millis())));
        Box::pin(async move {
            sleep(ms(job)).await;
            Err("always")
        })
    }
}

/// The waits from one start to the next.
fn gaps(starts: &Starts) -> Vec<u128> {
    starts.lock().windows(2).map(|pair| (pair[1].0 - pair[0].0).as_millis()).collect()
}

fn take(kind: &str, millis: u64) -> Routed {
    Routed::json(kind, &millis).unwrap()
}

/// 3 retries after 10 ms and a limit of 100 ms: unless the route or the job has its own.
fn builder() -> Builder<Ring<Routed>> {
    Queue::with_worker(Ring::new()).slots(1).retry(Retry::fixed(3, ms(10))).timeout(ms(100))
}

/// E-19, E-102
#[tokio::test(start_paused = true)]
async fn retries_of_the_job_beat_the_route_and_those_the_queue() {
    let starts = Starts::default();
    let routes = Routes::new()
        .on("plain", failing(&starts))
        .on_with("more", RouteOptions::new().retry(Retry::fixed(5, ms(10))), failing(&starts))
        .on_with("none", RouteOptions::new().retry(Retry::none()), failing(&starts));
    let queue = builder().start(routes).unwrap();
    let attempts = async |kind: &str, retries: Option<u32>| {
        starts.lock().clear();
        let job = queue.job(take(kind, 0));
        let job = if let Some(retries) = retries { job.retries(retries) } else { job };
        job.enqueue().await.unwrap();
        sleep(LONG).await;
        let starts = starts.lock();
        assert!(starts.iter().all(|(_, of, _)| *of as usize == starts.len()), "{starts:?}");
        starts.len()
    };
    assert_eq!(attempts("plain", None).await, 4);
    assert_eq!(attempts("more", None).await, 6);
    assert_eq!(attempts("none", None).await, 1);
    assert_eq!(attempts("more", Some(1)).await, 2);
    assert_eq!(attempts("none", Some(2)).await, 3);
    assert_eq!(attempts("plain", Some(7)).await, 8);
    assert_eq!(dead(&queue).await.len(), 6);
    drop(end(&queue).await);
}

/// E-19: also where the queue itself would allow one attempt only, and keeps no dead letters.
#[tokio::test(start_paused = true)]
async fn a_route_retries_on_a_queue_that_does_not() {
    let starts = Starts::default();
    let routes = Routes::new().on_with("more", RouteOptions::new().retry(Retry::fixed(2, ms(10))), failing(&starts));
    let ring = Ring::builder().dead_letters(0).build().unwrap();
    let queue = Queue::with_worker(ring).slots(1).retry(Retry::none()).start(routes).unwrap();
    queue.enqueue(take("more", 0)).await.unwrap();
    sleep(LONG).await;
    assert_eq!((gaps(&starts), queue.stats().dead), (vec![10, 10], 1));
    drop(end(&queue).await);
}

/// E-19
#[tokio::test(start_paused = true)]
async fn back_off_of_the_job_beats_the_route_and_that_the_queue() {
    let starts = Starts::default();
    let exact = Retry::exponential(2).base(ms(100)).factor(3.0).without_jitter();
    let routes = Routes::new()
        .on("plain", failing(&starts))
        .on_with("slow", RouteOptions::new().retry(exact), failing(&starts))
        .on_with("inline", RouteOptions::new().retry(exact.inline()), failing(&starts));
    let queue = builder().start(routes).unwrap();
    let waits = async |job: queue::JobBuilder<'_, Ring<Routed>>| {
        starts.lock().clear();
        job.enqueue().await.unwrap();
        sleep(ms(50)).await;
        // Where the job waits for its retry is the route's, too.
        let inline = queue.stats().running == 1;
        sleep(LONG).await;
        (gaps(&starts), inline)
    };
    assert_eq!(waits(queue.job(take("plain", 0)).retries(2)).await.0, [10, 10]);
    assert_eq!(waits(queue.job(take("slow", 0))).await, (vec![100, 300], false));
    assert_eq!(waits(queue.job(take("inline", 0))).await, (vec![100, 300], true));
    let own = Backoff::fixed(ms(70));
    assert_eq!(waits(queue.job(take("slow", 0)).backoff(own)).await, (vec![70, 70], false));
    drop(end(&queue).await);
}

/// E-19
#[tokio::test(start_paused = true)]
async fn timeout_of_the_job_beats_the_route_and_that_the_queue() {
    let starts = Starts::default();
    let once = |limit| RouteOptions::new().retry(Retry::none()).timeout(limit);
    let routes = Routes::new()
        .on_with("plain", RouteOptions::new().retry(Retry::none()), failing(&starts))
        .on_with("short", once(ms(50)), failing(&starts))
        .on_with("long", once(ms(400)), failing(&starts))
        .on_with("without", once(std::time::Duration::MAX), failing(&starts))
        .on_with("later", once(ms(50)), async |job: u64| sleep(ms(job)).await);
    let queue = builder().start(routes).unwrap();
    let limit = async |job: queue::JobBuilder<'_, Ring<Routed>>| {
        let before = (queue.stats().timed_out, Instant::now());
        job.enqueue().await.unwrap();
        while queue.stats().dead + queue.stats().done < queue.stats().accepted {
            sleep(ms(1)).await;
        }
        let shown = starts.lock().pop().and_then(|(_, _, limit)| limit);
        let took = u64::try_from(before.1.elapsed().as_millis()).unwrap();
        (queue.stats().timed_out - before.0, shown, took / 10 * 10)
    };
    assert_eq!(limit(queue.job(take("plain", 300))).await, (1, Some(100), 100));
    assert_eq!(limit(queue.job(take("short", 300))).await, (1, Some(50), 50));
    assert_eq!(limit(queue.job(take("long", 300))).await, (0, Some(400), 300));
    assert_eq!(limit(queue.job(take("without", 900))).await, (0, None, 900));
    assert_eq!(limit(queue.job(take("short", 300)).timeout(ms(200))).await, (1, Some(200), 200));
    // A handler without a context, whose clock starts as it first waits.
    assert_eq!(limit(queue.job(take("later", 300))).await, (1, None, 50));
    drop(end(&queue).await);
}

/// E-19, E-59
#[tokio::test(start_paused = true)]
async fn deadline_of_the_job_beats_the_route_and_that_the_queue() {
    let starts = Starts::default();
    let routes = Routes::new()
        .on("plain", failing(&starts))
        .on_with("short", RouteOptions::new().deadline(ms(50)), failing(&starts))
        .on_with("long", RouteOptions::new().deadline(LONG), failing(&starts));
    let queue = builder().slots(0).deadline(ms(200)).start(routes).unwrap();
    let [plain, short, long] = ["plain", "short", "long"].map(|kind| queue.job(take(kind, 0)).retries(0));
    plain.enqueue().await.unwrap();
    short.enqueue().await.unwrap();
    queue.job(take("short", 0)).retries(0).deadline(ms(150)).enqueue().await.unwrap();
    long.enqueue().await.unwrap();
    sleep(ms(100)).await;
    queue.resize(1).await.unwrap();
    sleep(ms(10)).await;
    let reasons = async || dead(&queue).await.into_iter().map(|letter| letter.cause.reason).collect::<Vec<_>>();
    let failed = Reason::AttemptsExhausted;
    assert_eq!(reasons().await, [failed, Reason::Deadline, failed, failed]);
    assert_eq!(queue.stats().started, 3);
    queue.resize(0).await.unwrap();
    for kind in ["plain", "short", "long"] {
        queue.job(take(kind, 0)).retries(0).enqueue().await.unwrap();
    }
    sleep(ms(300)).await;
    queue.resize(1).await.unwrap();
    sleep(ms(10)).await;
    assert_eq!(reasons().await.split_off(4), [Reason::Deadline, Reason::Deadline, failed]);
    drop(end(&queue).await);
}

/// E-59: the handler is told the deadline that holds.
#[tokio::test(start_paused = true)]
async fn the_deadline_of_its_route_is_told_to_a_handler() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = || {
        let told = told.clone();
        move |_: u64, cx: Context| {
            told.lock().push(cx.deadline().map(|deadline| (deadline - cx.enqueued_at()).as_millis()));
            std::future::ready(())
        }
    };
    let routes = Routes::new().on("plain", tell()).on_with("long", RouteOptions::new().deadline(ms(900)), tell());
    let queue = builder().deadline(ms(200)).start(routes).unwrap();
    queue.enqueue(take("plain", 0)).await.unwrap();
    queue.enqueue(take("long", 0)).await.unwrap();
    queue.job(take("long", 0)).deadline(ms(500)).enqueue().await.unwrap();
    drop(end(&queue).await);
    assert_eq!(*told.lock(), [Some(200), Some(900), Some(500)]);
}

/// E-64, E-19: whether a panic ends the job is the route's to say.
#[tokio::test(start_paused = true)]
async fn a_route_says_what_a_panic_does() {
    let panics = || at_once(|_: u64| panic!("planned"));
    let routes = Routes::new().on("again", panics()).on_with(
        "dead",
        RouteOptions::new().retry(Retry::fixed(3, ms(10)).dead_on_panic()),
        panics(),
    );
    let queue = builder().start(routes).unwrap();
    queue.enqueue(take("again", 0)).await.unwrap();
    sleep(LONG).await;
    assert_eq!(queue.stats().panicked, 4);
    queue.enqueue(take("dead", 0)).await.unwrap();
    sleep(LONG).await;
    assert_eq!(queue.stats().panicked, 5);
    drop(end(&queue).await);
}

/// A handler that is ready at once.
fn at_once(run: impl Fn(u64) + Clone + Send + Sync + 'static) -> impl Fn(u64) -> std::future::Ready<()> + Clone {
    move |job| {
        run(job);
        std::future::ready(())
    }
}

/// E-102: a broker counts attempts that crashed their process, and may hand out more than a route allows.
#[tokio::test(start_paused = true)]
async fn an_attempt_above_those_of_its_route_does_not_start() {
    let starts = Starts::default();
    let routes = Routes::new()
        .on("plain", failing(&starts))
        .on_with("two", RouteOptions::new().retry(Retry::fixed(1, ms(10))), failing(&starts))
        .on_with("nine", RouteOptions::new().retry(Retry::fixed(8, ms(10))), failing(&starts));
    let spy = Spy::new(Ring::new());
    // Each job comes with the fifth attempt.
    spy.calls.crashed.store(4, Ordering::Relaxed);
    let queue = Queue::with_worker(spy).slots(1).retry(Retry::fixed(5, ms(10))).start(routes).unwrap();
    queue.enqueue(take("two", 0)).await.unwrap();
    sleep(ms(100)).await;
    assert_eq!((queue.stats().started, queue.stats().dead), (0, 1));
    let letter = queue.worker().inner().dead_letters(Page::first(1)).await.unwrap().remove(0);
    assert_eq!((letter.cause.reason, letter.meta.attempt), (Reason::AttemptsExhausted, 5));
    assert_eq!(letter.decode().unwrap().unwrap().kind, "two");
    queue.job(take("two", 0)).retries(4).enqueue().await.unwrap();
    sleep(ms(100)).await;
    assert_eq!((queue.stats().started, queue.stats().dead), (1, 2));
    queue.enqueue(take("nine", 0)).await.unwrap();
    sleep(ms(5)).await;
    assert_eq!((queue.stats().started, queue.stats().dead), (2, 2));
    drop(end(&queue).await);
}
