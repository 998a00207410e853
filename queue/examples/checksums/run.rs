//! One run, from the command line to the exit status.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use queue::{DynWorker, OnShutdown, Queue, Report, Retry, ShutdownError, blocking};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::args::Args;
use crate::job::Job;
use crate::manifest::Results;
use crate::progress::Progress;
use crate::{DONE, INCOMPLETE, INTERRUPTED, USAGE, hash, walk, worker};

/// How many files that were not done are named.
const NAMED: usize = 10;
/// Longer than any run.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 3_600);

/// What the walk and the handlers share.
pub(crate) struct Run {
    pub(crate) root: PathBuf,
    pub(crate) results: Results,
    pub(crate) progress: Arc<Progress>,
    /// Nothing more shall start: Ctrl-C, or nothing can be recorded.
    pub(crate) stop: CancellationToken,
    failure: OnceLock<String>,
}

impl Run {
    /// Ends the run: no later file would fare better. The first reason is told.
    pub(crate) fn fail(&self, why: String) {
        self.failure.get_or_init(|| why);
        self.stop.cancel();
    }
}

/// The run, which the first Ctrl-C stops and the second leaves.
pub(crate) async fn until_interrupted(args: Args) -> u8 {
    let mut interrupts = match signal(SignalKind::interrupt()) {
        Ok(interrupts) => interrupts,
        Err(error) => {
            eprintln!("checksums: cannot listen for Ctrl-C: {error}");
            return INCOMPLETE;
        }
    };
    let (progress, stop) = (Arc::new(Progress::new()), CancellationToken::new());
    let mut whole = pin!(checksums(args, progress.clone(), stop.clone()));
    for last_words in ["stopping; Ctrl-C again ends at once", "ended at once"] {
        tokio::select! {
            code = &mut whole => return code,
            _ = interrupts.recv() => stop.cancel(),
        }
        progress.say(format_args!("{last_words}"));
    }
    progress.end();
    INTERRUPTED
}

async fn checksums(args: Args, progress: Arc<Progress>, stop: CancellationToken) -> u8 {
    let (run, queue) = match start(args, progress.clone(), stop) {
        Ok(started) => started,
        Err(why) => {
            progress.end();
            progress.say(format_args!("{why}"));
            return USAGE;
        }
    };
    match drive(&run, &queue).await {
        Ok(code) => code,
        Err(why) => {
            progress.end();
            progress.say(format_args!("{why}"));
            INCOMPLETE
        }
    }
}

/// Checks what was asked for, and starts the queue.
fn start(
    args: Args,
    progress: Arc<Progress>,
    stop: CancellationToken,
) -> Result<(Arc<Run>, Queue<DynWorker<Job>>), String> {
    let root = args.path;
    // A directory that can be listed; else nothing of what was asked can be done.
    std::fs::read_dir(&root).map_err(|error| format!("cannot list the directory {root:?}: {error}"))?;
    let worker = worker::worker(&args.worker).map_err(|error| error.to_string())?;
    let out = args.out.as_deref();
    let results = Results::create(out).map_err(|error| match out {
        Some(out) => format!("cannot write to {out:?}: {error}"),
        None => format!("cannot write to {:?}: {error}", std::env::temp_dir()),
    })?;
    let run = Run { root, results, progress, stop, failure: OnceLock::new() };
    let run = Arc::new(run);
    let builder = Queue::with_worker(worker).state(run.clone()).retry(Retry::exponential(3));
    // What has not started when a Ctrl-C comes shall not start. A run without one is over before it shuts down.
    let builder = builder.on_shutdown(OnShutdown::Return);
    let builder = if let Some(slots) = args.slots { builder.slots(slots) } else { builder };
    let queue = builder.start(blocking(hash::checksum)).map_err(|error| error.to_string())?;
    Ok((run, queue))
}

/// From the first file found to the manifest.
async fn drive(run: &Arc<Run>, queue: &Queue<DynWorker<Job>>) -> Result<u8, String> {
    let but = run.results.files_below(&run.root).map_err(|error| error.to_string())?;
    let (jobs, walker) = (queue.enqueuer(), run.clone());
    let mut walking = tokio::task::spawn_blocking(move || walk::walk(&walker, &but, &jobs));
    let mut walked = None;
    let whole = async {
        walked = Some((&mut walking).await);
        queue.idle().await;
    };
    let interrupted = tokio::select! {
        () = whole => false,
        () = run.stop.cancelled() => true,
    };
    let report = end(queue, interrupted).await;
    let walked = match walked {
        Some(walked) => walked,
        // The closed queue ends it too.
        None => walking.await,
    };
    let refused = walked.map_err(|error| format!("the walk failed: {error}"))?.err();
    run.progress.end();
    if interrupted {
        return stopped(run, &report, refused.map(queue::EnqueueError::into_job)).await;
    }
    if let Some(error) = refused {
        return Err(format!("cannot queue a file: {error}"));
    }
    finished(run, &report).await
}

/// Ends the queue. Where it was interrupted, handlers are told to stop at once, and then have the time that it takes.
async fn end(queue: &Queue<DynWorker<Job>>, interrupted: bool) -> Report<Job> {
    let whole = |answer: Result<_, ShutdownError<_>>| answer.unwrap_or_else(|error| error.report);
    if interrupted {
        drop(whole(queue.shutdown(Duration::ZERO).await));
    }
    whole(queue.shutdown(FOR_EVER).await)
}

/// All files had their turn.
async fn finished(run: &Arc<Run>, report: &Report<Job>) -> Result<u8, String> {
    finish(run).await?;
    let counts = run.progress.counts();
    run.progress.say(format_args!(
        "{} files, {} bytes; {} unreadable, {} skipped",
        counts.written, counts.bytes, counts.unreadable, counts.skipped
    ));
    let stats = report.stats();
    if stats.panicked > 0 {
        return Err(format!("{} attempts failed inside this program", stats.panicked));
    }
    Ok(if counts.unreadable == 0 { DONE } else { INCOMPLETE })
}

/// Writes the manifest, and makes sure that it has every line.
async fn finish(run: &Arc<Run>) -> Result<(), String> {
    let writer = run.clone();
    let answer = tokio::task::spawn_blocking(move || writer.results.finish()).await;
    let lines = match answer {
        Ok(Ok(lines)) => lines,
        Ok(Err(error)) => return Err(format!("cannot write the manifest: {error}")),
        Err(error) => return Err(format!("cannot write the manifest: {error}")),
    };
    let written = run.progress.counts().written;
    if lines < written {
        return Err(format!("{} of {written} lines are gone: did another run have the same --out?", written - lines));
    }
    Ok(())
}

/// The run was stopped: what is done stays, the rest is told.
async fn stopped(run: &Arc<Run>, report: &Report<Job>, refused: Option<Job>) -> Result<u8, String> {
    let unrun = report.take_unrun().into_iter().filter_map(|unrun| unrun.job.ok());
    let not_done: Vec<_> = unrun.chain(refused).collect();
    for job in not_done.iter().take(NAMED) {
        run.progress.say(format_args!("not done: {:?}", job.path()));
    }
    let counts = run.progress.counts();
    let kept = match run.results.partial() {
        Some(partial) => format!("in {partial:?}"),
        None => {
            finish(run).await?;
            "on standard output".to_owned()
        }
    };
    run.progress.say(format_args!(
        "stopped: {} files are done, {kept}; {} were found and are not, and there may be more that were not found",
        counts.written,
        not_done.len()
    ));
    match run.failure.get() {
        Some(why) => Err(why.clone()),
        None => Ok(INTERRUPTED),
    }
}
