//! The life of the service, from the first socket to the last job.

use std::error::Error;
use std::future::IntoFuture;
use std::pin::pin;
use std::time::Duration;

use queue::{DeadLetters, DynWorker, Page, Queue, Report, Retry, Ring, RouteOptions, Routed, Routes, Worker, blocking};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::outbox::Outbox;
use crate::{email, health, http, invoice};

/// How long requests that are under way may take, once it is told to stop.
const REQUESTS: Duration = Duration::from_secs(5);

/// How many dead jobs are named.
const DEAD: usize = 1_000;

type Jobs = Queue<DynWorker<Routed>>;

/// Serves until a signal, and ends in order; a second signal cuts that short.
pub(crate) async fn run(args: Args) -> Result<(), Box<dyn Error>> {
    let mut stop = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let queue = start(&args)?;
    let listener = TcpListener::bind(args.listen).await?;
    // Others wait for this line: it says where, and that requests are taken.
    println!("listening on {}", listener.local_addr()?);
    let (stopping, looked_at) = (CancellationToken::new(), queue.clone());
    let api = http::router(queue.enqueuer(), move || health::of(&looked_at));
    let mut serving =
        pin!(axum::serve(listener, api).with_graceful_shutdown(stopping.clone().cancelled_owned()).into_future());
    tokio::select! {
        ended = &mut serving => return Err(format!("HTTP has ended: {ended:?}").into()),
        () = told(&mut stop) => {}
    }
    eprintln!("stopping; a second signal ends at once");
    let in_order = async {
        // From here on nobody gets a connection, and those that are there end with their request.
        stopping.cancel();
        if timeout(REQUESTS, serving).await.is_err() {
            eprintln!("some requests took too long; they were cut");
        }
        let report = queue.shutdown(args.deadline).await.map_err(|error| error.to_string())?;
        tell(&queue, &report).await
    };
    tokio::select! {
        ended = in_order => ended,
        () = told(&mut stop) => Err("ended at once: what was not done is not named".into()),
    }
}

/// The queue: the one place that names a broker.
fn start(args: &Args) -> Result<Jobs, Box<dyn Error>> {
    let outbox = Outbox::open(&args.outbox).map_err(|error| format!("no outbox in {:?}: {error}", args.outbox))?;
    let worker = Ring::builder().capacity(args.capacity).build()?.boxed();
    let patient = RouteOptions::new().retry(Retry::exponential(8));
    let routes = Routes::new().on_with(email::KIND, patient, email::send).on(invoice::KIND, blocking(invoice::make));
    let builder = Queue::with_worker(worker).state(outbox).timeout(Duration::from_secs(10));
    let builder = if let Some(slots) = args.slots { builder.slots(slots) } else { builder };
    Ok(builder.start(routes)?)
}

/// Waits for either signal.
async fn told((terminate, interrupt): &mut (Signal, Signal)) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Names each job that was taken and is not done. Everything else is.
async fn tell(queue: &Jobs, report: &Report<Routed>) -> Result<(), Box<dyn Error>> {
    for letter in queue.worker().dead_letters(Page::first(DEAD)).await? {
        println!("dead: {} {}", letter.meta.id, letter.cause);
    }
    let unrun = report.take_unrun();
    for unrun in &unrun {
        let kind = unrun.job.as_ref().map_or("undecodable", |job| &job.kind);
        println!("not done: {} {kind}, after {} attempts", unrun.id, unrun.attempts);
    }
    let stats = report.stats();
    println!("{} taken, {} done, {} dead, {} not done", stats.accepted, stats.done, stats.dead, unrun.len());
    if report.is_complete() { Ok(()) } else { Err(format!("{} jobs still run", report.abandoned()).into()) }
}
