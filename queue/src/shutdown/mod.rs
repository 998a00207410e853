//! How a queue ends: intake stops, what runs ends until the deadline, the rest is handed back.

mod handle;
mod report;

pub(crate) use handle::Ends;
pub use handle::ShutdownHandle;
pub use report::{Report, ShutdownError, Unrun};

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use parking_lot::Mutex;
use queue_core::{Worker, WorkerError};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::Stats;
use crate::completion::hooks;
use crate::control::Phase;
use crate::engine::Shared;

/// What a shutdown does with jobs that have not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnShutdown {
    /// They start and end until the deadline; the rest is handed back. The default where jobs die with the process.
    Drain,
    /// They are handed back at once. The default on a broker, which hands them to somebody else.
    Return,
}

/// How long after the deadline handlers have to see the signal and drop, and a verdict to reach the broker.
const CANCEL_GRACE: Duration = Duration::from_millis(400);
/// How long after that a slot has to give up what the worker does not answer.
const GIVE_UP_GRACE: Duration = Duration::from_millis(100);
/// How long after that the worker has to end. All together keep the promise of deadline + 1 s.
const CLOSE_GRACE: Duration = Duration::from_millis(400);

/// The deadline that is `time` away. One that overflows the clock: a hundred years will do.
pub(crate) fn after(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or_else(|| now + Duration::from_secs(100 * 365 * 24 * 3_600))
}

/// How far it has come, for those who wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Going,
    /// The worker has ended; a handler that cannot be stopped still runs.
    Left,
    Over,
}

/// The one shutdown of a queue, shared by all who ask for it.
#[derive(Debug)]
pub(crate) struct Shutdown<J> {
    /// The latest deadline that anybody asked for. None: nobody asked yet.
    deadline: watch::Sender<Option<Instant>>,
    progress: watch::Sender<Progress>,
    unrun: Arc<Mutex<Vec<Unrun<J>>>>,
    error: Mutex<Option<WorkerError>>,
}

impl<J: Send + 'static> Shutdown<J> {
    pub(crate) fn new() -> Self {
        Self {
            deadline: watch::Sender::new(None),
            progress: watch::Sender::new(Progress::Going),
            unrun: Arc::default(),
            error: Mutex::new(None),
        }
    }

    /// Asks for the end until `deadline`. True for the first who does: it has to run [`drive`](Self::drive).
    pub(crate) fn ask(&self, deadline: Instant) -> bool {
        let mut first = false;
        self.deadline.send_modify(|latest| {
            first = latest.is_none();
            *latest = Some(latest.map_or(deadline, |latest| latest.max(deadline)));
        });
        first
    }

    /// The latest deadline that anybody asked for, as it changes.
    pub(crate) fn deadlines(&self) -> watch::Receiver<Option<Instant>> {
        self.deadline.subscribe()
    }

    pub(crate) fn is_over(&self) -> bool {
        *self.progress.borrow() == Progress::Over
    }

    /// Waits for the end, or for `deadline`.
    pub(crate) async fn wait<W: Worker<Job = J>>(
        &self,
        shared: &Shared<W>,
        deadline: Instant,
    ) -> Result<Report<J>, ShutdownError<J>> {
        let inside = poll_fn(|cx| Poll::Ready(shared.is_slot(cx.waker()) || hooks::is_inside())).await;
        let mut progress = self.progress.subscribe();
        // A blocking handler that was left alone may still end within this call's time.
        let over = progress.wait_for(|progress| *progress == Progress::Over);
        // A handler or hook that asks would wait for itself.
        if timeout_at(deadline, over).await.is_err() && self.is_latest(deadline) && !inside {
            // Handlers are being cancelled just now: their fate belongs into this report.
            let grace = deadline + CANCEL_GRACE + GIVE_UP_GRACE + CLOSE_GRACE;
            let left = progress.wait_for(|progress| matches!(progress, Progress::Left | Progress::Over));
            // Past the grace the report says how far it came.
            drop(timeout_at(grace, left).await);
        }
        let complete = *self.progress.borrow() == Progress::Over;
        let report = Report::new(Stats::read(shared), complete, self.unrun.clone());
        match self.error.lock().clone() {
            Some(source) => Err(ShutdownError { source, report }),
            None => Ok(report),
        }
    }

    fn is_latest(&self, deadline: Instant) -> bool {
        self.deadline.borrow().is_none_or(|latest| latest <= deadline)
    }

    /// Ends the queue, whose intake is closed: runs once, as a task of its own, so that nobody who stops waiting stops it.
    pub(crate) fn drive<W: Worker<Job = J>>(shared: Arc<Shared<W>>) -> impl Future<Output = ()> + Send + 'static {
        let driving = Driving(shared);
        async move { driving.0.shutdown.run(&driving.0).await }
    }

    async fn run<W: Worker<Job = J>>(&self, shared: &Shared<W>) {
        self.before_deadline(async {
            shared.until(|slots| slots.live().next().is_none()).await;
            shared.hooks_ended().await;
        })
        .await;

        shared.enter(Phase::Cancelling);
        if !settled(shared, CANCEL_GRACE).await {
            shared.enter(Phase::GivingUp);
            shared.cut_hooks();
            settled(shared, GIVE_UP_GRACE).await;
        }
        self.end_worker(shared).await;
        if shared.slots.read().live().next().is_some() {
            self.progress.send_replace(Progress::Left);
            shared.until(|slots| slots.live().next().is_none()).await;
            // What came back since.
            self.end_worker(shared).await;
        }
        shared.cut_hooks();
        shared.hooks_ended().await;
        self.progress.send_replace(Progress::Over);
    }

    /// Waits for `end`, until the latest deadline: it may move while this waits.
    async fn before_deadline(&self, end: impl Future<Output = ()>) {
        let mut end = pin!(end);
        let mut deadlines = self.deadline.subscribe();
        loop {
            let deadline = deadlines.borrow_and_update().unwrap_or_else(Instant::now);
            let mut moved = pin!(deadlines.changed());
            // True at the end, false where the deadline has moved. The sender is in `self`: it does not close.
            let either = poll_fn(|cx| match end.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(true),
                Poll::Pending => moved.as_mut().poll(cx).map(|_| false),
            });
            if timeout_at(deadline, either).await != Ok(false) {
                return;
            }
        }
    }

    async fn end_worker<W: Worker<Job = J>>(&self, shared: &Shared<W>) {
        let deadline = Instant::now() + CLOSE_GRACE;
        let mut unrun = VecDeque::new();
        let answer = match timeout_at(deadline, shared.worker().shutdown(deadline, &mut unrun)).await {
            Ok(answer) => answer,
            Err(_) => {
                Err(WorkerError::retry("the worker did not end in time: what it had to tell the broker may be lost"))
            }
        };
        // A codec is user code: it runs without the lock.
        let unrun: Vec<_> = unrun.into_iter().map(Unrun::new).collect();
        self.unrun.lock().extend(unrun);
        if let Err(error) = answer {
            shared.monitor.failed(&error, "The worker did not end cleanly.");
            *self.error.lock() = Some(error);
        }
    }
}

/// Waits until each slot has ended or cannot be stopped, and each hook has ended. False where that takes longer than
/// `grace`: what blocks its thread in spite of being async does not see the signal.
async fn settled<W: Worker>(shared: &Shared<W>, grace: Duration) -> bool {
    let settled = async {
        shared.until(|slots| slots.live().all(|slot| slot.counters.is_stuck())).await;
        shared.hooks_ended().await;
    };
    timeout_at(Instant::now() + grace, settled).await.is_ok()
}

/// The task of a shutdown. Whatever ends it, those who wait have their answer: also where its runtime never ran it.
struct Driving<W: Worker>(Arc<Shared<W>>);

impl<W: Worker> Drop for Driving<W> {
    fn drop(&mut self) {
        self.0.watchdog.stop();
        self.0.monitor.stop();
        self.0.cut_hooks();
        let shutdown = &self.0.shutdown;
        if *shutdown.progress.borrow() != Progress::Over {
            let error = "the shutdown ended before its time: the worker panicked, or the queue's runtime is gone";
            *shutdown.error.lock() = Some(WorkerError::fatal(error));
            shutdown.progress.send_replace(Progress::Over);
        }
    }
}
