//! Many job types in one queue: each handler gets its own, and what fits none is dead before it starts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::tokio;
use bytes::Bytes;
use parking_lot::Mutex;
use queue::core::codec::{Codec, Unencodable, Wire};
use queue::core::{Cause, Json, Undecodable};
use queue::{
    Context, Error, JobId, Outcome, Queue, Reason, Retry, Ring, RouteOptions, Routed, Routes, Worker, blocking,
};
use serde::{Deserialize, Serialize};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};
use tracing::level_filters::LevelFilter;

use crate::common::{Log, Text, dead, end, ms, until};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Email {
    to: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Report {
    month: u8,
}

fn email(to: &str) -> Routed {
    Routed::json("email", &Email { to: to.to_owned() }).unwrap()
}

fn report(month: u8) -> Routed {
    Routed::json("report", &Report { month }).unwrap()
}

/// What the handlers below have seen.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().push(what.into());
    }

    fn sorted(&self) -> Vec<String> {
        let mut seen = self.0.lock().clone();
        seen.sort();
        seen
    }
}

async fn send_email(email: Email, cx: Context<Seen>) {
    yield_now().await;
    cx.state().note(format!("email to {}", email.to));
}

async fn make_report(report: Report, cx: Context<Seen>) -> Result<(), Error> {
    let asker = cx.header("asked-by").map(|name| String::from_utf8_lossy(name).into_owned());
    cx.state().note(format!(
        "report {}, asked by {asker:?}, attempt {} of {}",
        report.month,
        cx.attempt(),
        cx.attempts()
    ));
    if report.month > 12 { Err(Error::permanent("no such month")) } else { Ok(()) }
}

fn routes() -> Routes<Seen> {
    let fast = RouteOptions::new().retry(Retry::fixed(1, ms(1)));
    Routes::new().on("email", send_email).on_with("report", fast, make_report)
}

/// Two kinds, one that nobody knows, and bodies of the wrong shape, over any worker; what is dead is looked at after.
async fn two_kinds<W: Worker<Job = Routed>>(worker: W) -> (Queue<W>, [JobId; 3]) {
    let seen = Seen::default();
    let queue = Queue::with_worker(worker).slots(2).state(seen.clone()).start(routes()).unwrap();
    let enqueuer = queue.enqueuer();
    queue.enqueue(email("ada")).await.unwrap();
    enqueuer.job(report(7)).header("asked-by", "bob").enqueue().await.unwrap();
    let permanent = queue.enqueue(report(13)).await.unwrap();
    let unknown = queue.enqueue(Routed::new("e-mail", "application/json", &b"{}"[..])).await.unwrap();
    // Each is a job of the other route.
    let swapped = Routed { kind: "report".to_owned(), ..email("eve") };
    let wrong = queue.enqueue(swapped).await.unwrap();
    queue.enqueue(email("bob")).await.unwrap();
    until(|| queue.stats().done + queue.stats().dead == 6).await;

    let expected = [
        "email to ada",
        "email to bob",
        "report 13, asked by None, attempt 1 of 2",
        "report 7, asked by Some(\"bob\"), attempt 1 of 2",
    ];
    assert_eq!(seen.sorted(), expected);
    let stats = queue.stats();
    assert_eq!((stats.done, stats.dead, stats.started, stats.failed, stats.ok), (3, 3, 4, 1, 3));
    (queue, [permanent, unknown, wrong])
}

/// The dead letters: id, cause, and the job.
async fn letters(queue: &Queue<Ring<Routed>>) -> Vec<(JobId, Cause, Routed)> {
    let letters = dead(queue).await.into_iter();
    letters.map(|letter| (letter.meta.id, letter.cause.clone(), letter.decode().unwrap().unwrap())).collect()
}

/// E-102
#[tokio::test(start_paused = true)]
async fn each_handler_gets_its_own_type_and_what_fits_none_is_dead() {
    let (log, _guard) = Log::listen(LevelFilter::WARN);
    let (queue, ids) = two_kinds(Ring::new()).await;
    let letters = letters(&queue).await;
    let letter = |id| letters.iter().find(|letter| letter.0 == id).unwrap();
    let [permanent, unknown, wrong] = ids.map(letter);

    assert_eq!((permanent.1.reason, &*permanent.1.error), (Reason::Permanent, "no such month"));
    assert_eq!((unknown.1.reason, &*unknown.1.error), (Reason::NoHandler, "no handler for `e-mail`"));
    assert_eq!(unknown.1.to_string(), "no handler for `e-mail`");
    assert_eq!(unknown.2.kind, "e-mail");
    assert_eq!(wrong.1.reason, Reason::Undecodable);
    assert!(wrong.1.error.contains("month"), "{}", wrong.1);
    // What was in it is still there, for whoever repairs it.
    assert_eq!(wrong.2, Routed { kind: "report".to_owned(), ..email("eve") });
    assert_eq!(log.lines("it was not started").len(), 2, "{:?}", log.lines(""));
    drop(end(&queue).await);
}

/// E-102: where the worker is chosen at run time.
#[tokio::test(start_paused = true)]
async fn routes_run_on_an_erased_worker() {
    let (queue, _) = two_kinds(Ring::new().boxed()).await;
    drop(end(&queue).await);
}

/// E-102: what nobody handles is named, but not at any length, nor with what a terminal would obey.
#[tokio::test(start_paused = true)]
async fn a_long_kind_is_cut_and_escaped() {
    let queue = Queue::with_worker(Ring::new()).slots(1).state(Seen::default()).start(routes()).unwrap();
    for kind in ["ü".repeat(101), "\u{1b}[31m".to_owned(), String::new()] {
        queue.enqueue(Routed::new(kind, "text/plain", Bytes::new())).await.unwrap();
    }
    until(|| queue.stats().dead == 3).await;
    let errors: Vec<_> = dead(&queue).await.into_iter().map(|letter| letter.cause.error.into_string()).collect();
    let long = format!("no handler for `{}…`", "ü".repeat(100));
    assert_eq!(errors, [&long, "no handler for `\\u{1b}[31m`", "no handler for ``"]);
    drop(end(&queue).await);
}

/// E-102: a route reads what its own codec writes, and nothing else.
#[tokio::test(start_paused = true)]
async fn a_route_has_a_codec_of_its_own() {
    let seen = Seen::default();
    let note = seen.clone();
    let handler = move |text: String| {
        note.note(text);
        std::future::ready(())
    };
    let routes = routes().on_with("note", RouteOptions::with_codec(Text), handler);
    let queue = Queue::with_worker(Ring::new()).slots(1).state(seen.clone()).start(routes).unwrap();
    queue.enqueue(Routed::encode("note", &Text, &"as it is".to_owned()).unwrap()).await.unwrap();
    queue.enqueue(Routed::new("note", "text/plain", &b"\xff"[..])).await.unwrap();
    queue.enqueue(Routed::new("email", "text/plain", &b"{\"to\":\"ada\"}"[..])).await.unwrap();
    until(|| queue.stats().done + queue.stats().dead == 3).await;
    assert_eq!(seen.sorted(), ["as it is"]);
    let errors: Vec<_> = dead(&queue).await.into_iter().map(|letter| letter.cause.to_string()).collect();
    assert_eq!(errors[0], "undecodable: not UTF-8");
    assert!(errors[1].contains("content type"), "{}", errors[1]);
    drop(end(&queue).await);
}

/// What each form below makes of a job: `1` fails where the form can say so.
fn fails(job: u32) -> Result<(), &'static str> {
    if job == 1 { Err("one") } else { Ok(()) }
}

async fn function(job: u32) -> Result<(), &'static str> {
    yield_now().await;
    fails(job)
}

async fn outcome(job: u32) -> Outcome {
    fails(job).map_or_else(|one| Outcome::failed(Error::new(one)), |()| Outcome::done())
}

async fn later(job: u32, cx: Context<Seen>) -> Outcome {
    if job == 1 && cx.attempt() == 1 { Outcome::retry_after(ms(1)) } else { Outcome::done() }
}

async fn snoozes(_: u32, cx: Context<Seen>) -> Outcome {
    let first = cx.state().sorted().is_empty();
    cx.state().note("a look");
    if first { Outcome::snooze(ms(1)) } else { Outcome::done() }
}

/// E-102: the same whether a route or a queue has the handler.
#[tokio::test]
async fn every_form_of_a_handler_is_one_of_a_route() {
    let routes = Routes::new()
        .on("function", function)
        .on("closure", async |job: u32| fails(job))
        .on("ready", |job: u32| std::future::ready(fails(job)))
        .on("nothing", |_: u32| async {})
        .on("outcome", outcome)
        .on("later", later)
        .on("snooze", snoozes)
        .on("blocking", blocking(fails))
        .on("blocking with context", blocking(|job: u32, _: Context<Seen>| fails(job)));
    let builder = Queue::with_worker(Ring::new()).slots(1).retry(Retry::fixed(1, ms(1))).state(Seen::default());
    let queue = builder.start(routes).unwrap();
    // Kind, and of its two jobs: attempts started, failed, and jobs dead.
    let expected = [
        ("function", [3, 2, 1]),
        ("closure", [3, 2, 1]),
        ("ready", [3, 2, 1]),
        ("nothing", [2, 0, 0]),
        ("outcome", [3, 2, 1]),
        ("later", [3, 1, 0]),
        ("snooze", [3, 0, 0]),
        ("blocking", [3, 2, 1]),
        ("blocking with context", [3, 2, 1]),
    ];
    for (kind, counts) in expected {
        let before = queue.stats();
        queue.enqueue(Routed::json(kind, &1).unwrap()).await.unwrap();
        queue.enqueue(Routed::json(kind, &2).unwrap()).await.unwrap();
        until_real(|| queue.stats().done + queue.stats().dead == before.done + before.dead + 2).await;
        let stats = queue.stats();
        let grown = [stats.started - before.started, stats.failed - before.failed, stats.dead - before.dead];
        assert_eq!(grown, counts, "{kind}");
    }
    assert_eq!(queue.stats().cut_short, 1);
    assert!(dead(&queue).await.iter().all(|letter| &*letter.cause.error == "one"));
    drop(end(&queue).await);
}

/// Waits, by the real clock, until `done`.
async fn until_real(done: impl Fn() -> bool) {
    let waits = async {
        while !done() {
            sleep(ms(1)).await;
        }
    };
    timeout(Duration::from_secs(60), waits).await.unwrap();
}

/// A codec that panics.
#[derive(Clone)]
struct Broken;

impl Codec<u32> for Broken {
    fn content_type<'a>(&'a self, _: &'a u32) -> &'a str {
        "text/plain"
    }

    fn encode(&self, _: &u32, _: &mut Vec<u8>) -> Result<(), Unencodable> {
        Ok(())
    }

    fn decode(&self, _: Wire<'_>) -> Result<u32, Undecodable> {
        panic!("planned: the codec panics")
    }
}

/// E-63, E-102
#[tokio::test(start_paused = true)]
async fn panics_of_a_route_are_contained() {
    let panics_at_once = |_: u32| -> std::future::Ready<()> { panic!("planned: before its future") };
    let panics_later = async |_: u32| -> Result<(), Error> {
        yield_now().await;
        panic!("planned: in its future")
    };
    let once = RouteOptions::new().retry(Retry::exponential(4).dead_on_panic());
    let routes = Routes::new()
        .on_with("codec", RouteOptions::with_codec(Broken), async |_: u32| ())
        .on("at once", panics_at_once)
        .on_with("later", once, panics_later)
        .on("fine", async |_: u32| ());
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(Retry::fixed(1, ms(1))).start(routes).unwrap();
    for kind in ["codec", "at once", "later", "fine"] {
        queue.enqueue(Routed::json(kind, &1).unwrap()).await.unwrap();
    }
    sleep(ms(100)).await;
    let stats = queue.stats();
    assert_eq!((stats.done, stats.dead, stats.panicked, stats.started), (1, 3, 3, 4));
    let letters = letters(&queue).await;
    let cause = |kind| letters.iter().find(|letter| letter.2.kind == kind).unwrap().1.to_string();
    assert_eq!(cause("codec"), "undecodable: the codec panicked");
    assert_eq!(cause("at once"), "attempts exhausted: panicked: planned: before its future");
    assert_eq!(cause("later"), "panicked: planned: in its future");
    drop(end(&queue).await);
}

/// E-57, E-102: a route's blocking code that ignores its limit keeps its slot, and a route's async code does not.
#[tokio::test]
async fn only_blocking_code_of_a_route_keeps_its_slot() {
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Mutex::new(released);
    let late = Arc::new(AtomicUsize::new(0));
    let count = late.clone();
    let deaf = blocking(move |_: u32| {
        released.lock().recv_timeout(Duration::from_secs(60)).unwrap();
        count.fetch_add(1, Ordering::SeqCst);
    });
    let limit = || RouteOptions::new().retry(Retry::none()).timeout(ms(20));
    let routes = Routes::new().on_with("async", limit(), async |_: u32| std::future::pending::<()>().await).on_with(
        "deaf",
        limit(),
        deaf,
    );
    let queue = Queue::with_worker(Ring::new()).slots(1).start(routes).unwrap();
    queue.enqueue(Routed::json("async", &1).unwrap()).await.unwrap();
    queue.enqueue(Routed::json("deaf", &1).unwrap()).await.unwrap();
    until_real(|| queue.stats().timed_out == 2).await;
    assert_eq!((queue.stats().overdue, late.load(Ordering::SeqCst)), (1, 0));
    release.send(()).unwrap();
    let report = end(&queue).await;
    let stats = report.stats();
    assert_eq!((stats.dead, stats.late, late.load(Ordering::SeqCst)), (2, 1, 1));
}

/// E-102: a producer needs no route to write for one.
#[test]
fn a_job_for_a_route_is_its_kind_and_its_body() {
    let job = email("ada");
    assert_eq!((&*job.kind, &*job.content_type, &*job.body), ("email", "application/json", &b"{\"to\":\"ada\"}"[..]));
    assert_eq!(job.decode::<Email, _>(&Json::new()).unwrap(), Email { to: "ada".to_owned() });
    assert!(Routed::json("odd", &std::collections::BTreeMap::from([((1, 2), 3)])).is_err());
}
