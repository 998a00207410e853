//! The settings of a queue, and its start.

use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use queue_core::{Capabilities, Feature, InvalidBackoff, Retries, Worker};
use tokio::runtime::Handle;

use crate::completion::Completion;
use crate::completion::hooks::Hooks;
use crate::engine::{Setup, Shared};
use crate::enqueue::{Enqueuer, Intake};
use crate::handler::{Handler, HandlerResult, Prepare};
use crate::health::Monitor;
use crate::policy::Policy;
use crate::queue::{Owner, Queue, Spawn};
use crate::routes::InvalidRoute;
use crate::shutdown::OnShutdown;
use crate::slot::{Slot, SlotTask};
use crate::{Retry, panic, watchdog};

/// Why a queue cannot start. Nothing was spawned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// It is started outside of a tokio runtime.
    #[error("no tokio runtime: start the queue inside one, with time enabled")]
    NoRuntime,
    /// A timeout of zero would end every attempt.
    #[error("a timeout of 0 would end every attempt: leave it out for none")]
    TimeoutZero,
    /// A deadline of zero has passed before the job is queued.
    #[error("a deadline of 0 would let no attempt start: leave it out for none")]
    DeadlineZero,
    /// The waits between attempts make no sense.
    #[error("the retry policy makes no sense")]
    Backoff(#[from] InvalidBackoff),
    /// More slots than tasks can be counted.
    #[error("{slots} slots are more than the {max} that a queue can have")]
    TooManySlots {
        /// The slots that were asked for.
        slots: usize,
        /// The most there can be.
        max: usize,
    },
    /// The worker cannot do what the settings ask for.
    #[error("the {backend} worker has no {feature}: leave the setting out or choose another worker")]
    Unsupported {
        /// The name of the backend.
        backend: &'static str,
        /// What it cannot do.
        feature: Feature,
    },
    /// A route makes no sense.
    #[error("the route `{kind}` makes no sense")]
    Route {
        /// The kind of its jobs.
        kind: Box<str>,
        /// What is wrong with it.
        source: InvalidRoute,
    },
    /// [`Routes`](crate::Routes) without any: every job would be dead.
    #[error("there are no routes: add one with `on`")]
    NoRoutes,
}

/// The most slots of one queue: more would be a mistake in units, and cost gigabytes.
pub(crate) const MAX_SLOTS: usize = 1 << 20;

/// The settings of a queue.
///
/// Each has a default, and [`guide`](crate::guide#every-default) has them all in one table.
///
/// ```
/// # use queue::{OnShutdown, Queue, Retry, Ring};
/// # use std::time::Duration;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let queue = Queue::with_worker(Ring::new())
///     .slots(16)
///     .retry(Retry::exponential(3).max(Duration::from_secs(60)))
///     .timeout(Duration::from_secs(5))
///     .deadline(Duration::from_secs(600))
///     .on_shutdown(OnShutdown::Return)
///     .start(async |to: String| println!("sent to {to}"))?;
/// # drop(queue.shutdown(Duration::ZERO).await?); Ok(()) }
/// ```
///
/// A builder that is dropped, or does not start, closes its worker: its enqueuers answer
/// [`EnqueueError::Closed`](crate::EnqueueError::Closed).
#[must_use = "a queue runs once it is started"]
pub struct Builder<W: Worker, S = ()> {
    worker: Unstarted<W>,
    state: S,
    settings: Settings,
    setup: Setup,
}

/// The settings, whatever worker and state are.
#[derive(Debug, Clone, Copy, Default)]
struct Settings {
    slots: Option<usize>,
    retry: Option<Retry>,
    timeout: Option<Duration>,
    deadline: Option<Duration>,
}

/// A worker without a queue. Where it never gets one, its drop closes it: nobody would ever run what is enqueued.
struct Unstarted<W: Worker> {
    intake: Arc<Intake<W>>,
    started: bool,
}

impl<W: Worker> Drop for Unstarted<W> {
    fn drop(&mut self) {
        if !self.started {
            self.intake.worker.close();
        }
    }
}

impl<W: Worker> Builder<W> {
    pub(crate) fn new(worker: W) -> Self {
        let worker = Unstarted { intake: Arc::new(Intake::new(worker)), started: false };
        Self { worker, state: (), settings: Settings::default(), setup: Setup::default() }
    }
}

impl<W: Worker, S> Builder<W, S> {
    /// What handlers get through [`Context::state`](crate::Context::state): cloned for each attempt that takes a
    /// context.
    pub fn state<T: Clone + Send + Sync + 'static>(self, state: T) -> Builder<W, T> {
        Builder { worker: self.worker, state, settings: self.settings, setup: self.setup }
    }

    /// The queue's name in spans, metrics and [`Context::queue`](crate::Context::queue).
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.setup.name = Some(name.into());
        self
    }

    /// Calls `hook` after each attempt, whatever its end, once the worker has carried out the verdict.
    ///
    /// A call holds no slot, and a shutdown waits for it until its deadline. It runs on the slot until it first waits for
    /// something, so it should not block; one that waits becomes a task. Its panic is contained and counted. While
    /// 1,024 calls wait no further attempt starts; where none of them ends for a second, jobs go on and further calls are
    /// left out and counted ([`Stats::hooks_left_out`](crate::Stats::hooks_left_out)).
    ///
    /// ```
    /// # use queue::{Completion, Queue, Ring};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let queue = Queue::with_worker(Ring::new())
    ///     .on_complete(async |done: Completion| println!("{} {} {:?}", done.id, done.end.name(), done.duration))
    ///     .start(async |to: String| println!("sent to {to}"))?;
    /// # drop(queue.shutdown(std::time::Duration::ZERO).await?); Ok(()) }
    /// ```
    pub fn on_complete<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn(Completion) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.setup.hooks = Some(Hooks::new(hook));
        self
    }

    /// Tells the recorder of the crate `metrics`, as it is when the queue starts, of each attempt: the histogram
    /// `messaging.process.duration` in seconds, and the counter `messaging.client.consumed.messages`. Labels are
    /// `messaging.destination.name` (the queue's name) and `outcome` ([`AttemptEnd::name`](crate::AttemptEnd::name)).
    #[cfg(feature = "metrics")]
    #[cfg_attr(docsrs, doc(cfg(feature = "metrics")))]
    pub const fn metrics(mut self) -> Self {
        self.setup.metrics = true;
        self
    }

    /// How many jobs run at once, at most 1,048,576. 0 starts paused: [`Queue::resize`] lets it run.
    pub const fn slots(mut self, slots: usize) -> Self {
        self.settings.slots = Some(slots);
        self
    }

    /// How failed jobs are tried again.
    pub const fn retry(mut self, retry: Retry) -> Self
    where
        W: Retries,
    {
        self.settings.retry = Some(retry);
        self
    }

    /// The limit of one attempt: it ends at the limit or up to 5 ms later, never earlier.
    ///
    /// The attempt of a handler that takes a context is timed from its start, that of a plain handler from its first wait
    /// on. An async handler that blocks its thread cannot be timed out; [`blocking`](crate::blocking) is for that.
    pub const fn timeout(mut self, limit: Duration) -> Self {
        self.settings.timeout = Some(limit);
        self
    }

    /// No attempt starts later than this after the job was enqueued (to 5 ms): the job is then dead.
    pub const fn deadline(mut self, within: Duration) -> Self {
        self.settings.deadline = Some(within);
        self
    }

    /// What a shutdown does with jobs that have not started.
    pub const fn on_shutdown(mut self, on_shutdown: OnShutdown) -> Self {
        self.setup.on_shutdown = Some(on_shutdown);
        self
    }

    /// An end of the queue that works before the start, too: what it queues runs once the queue has started. If it never
    /// does, for the builder is dropped or the start fails, the intake closes.
    #[must_use]
    pub fn enqueuer(&self) -> Enqueuer<W::Job> {
        Enqueuer::new(self.worker.intake.clone())
    }

    /// Starts the queue with its handler: an async function or closure of the job, or of the job and a
    /// [`Context<S>`](crate::Context), [`blocking`](crate::blocking), or [`Routes`](crate::Routes).
    ///
    /// It does no I/O. The tasks run on the tokio runtime that this is called in, which must have time enabled.
    ///
    /// # Errors
    /// A setting makes no sense, the worker cannot keep it, or there is no runtime. Nothing was spawned.
    pub fn start<H, M>(self, handler: H) -> Result<Queue<W>, StartError>
    where
        H: Handler<M, W::Job, S, Output: HandlerResult, Future: Send>,
        S: Send + Sync + 'static,
        M: 'static,
    {
        let slots = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let slots = self.settings.slots.unwrap_or_else(slots);
        let (mut handler, state) = (handler, self.state);
        self.settings.start(self.worker, slots, self.setup, |shared| {
            handler.prepare(Prepare { policy: &shared.policy, can: shared.worker().capabilities() })?;
            let handler = Arc::new((handler, state));
            Ok(Some(Box::new(move |place, slot: Arc<Slot>| {
                let task = SlotTask { shared: shared.clone(), slot, place, handler: handler.clone() };
                shared.tracker.spawn_on(task.run::<M>(), &shared.runtime);
            })))
        })
    }

    /// Starts a queue that only takes jobs: it has no slots, and never asks the worker for one.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn producer(self) -> Result<Queue<W>, StartError> {
        self.settings.start(self.worker, 0, self.setup, |_| Ok(None))
    }
}

impl Settings {
    fn validate(&self, slots: usize, can: &Capabilities) -> Result<(), StartError> {
        if slots > MAX_SLOTS {
            return Err(StartError::TooManySlots { slots, max: MAX_SLOTS });
        }
        if self.timeout.is_some_and(|limit| limit.is_zero()) {
            return Err(StartError::TimeoutZero);
        }
        if self.deadline.is_some_and(|within| within.is_zero()) {
            return Err(StartError::DeadlineZero);
        }
        let Some(retry) = self.retry else { return Ok(()) };
        retry.validate()?;
        if retry.retries > 0 && !can.has(Feature::Retries) {
            return Err(StartError::Unsupported { backend: can.backend, feature: Feature::Retries });
        }
        Ok(())
    }

    fn start<W: Worker>(
        self,
        mut worker: Unstarted<W>,
        slots: usize,
        setup: Setup,
        spawn: impl FnOnce(Arc<Shared<W>>) -> Result<Option<Spawn>, StartError>,
    ) -> Result<Queue<W>, StartError> {
        let intake = worker.intake.clone();
        self.validate(slots, intake.worker.capabilities())?;
        let runtime = Handle::try_current().map_err(|_| StartError::NoRuntime)?;
        panic::note_locations();
        let policy = Policy::new(self.retry, self.timeout, self.deadline, intake.worker.capabilities());
        let shared = Shared::new(intake, policy, setup, runtime);
        let owner = Owner { spawn: spawn(shared.clone())?, resizing: tokio::sync::Mutex::new(()), shared };
        let watched = owner.shared.clone();
        let watch = async move { watchdog::Watchdog::watch(&watched).await };
        owner.shared.tracker.spawn_on(watch, &owner.shared.runtime);
        let events = owner.shared.worker().events();
        if !events.is_none() {
            let heard = owner.shared.clone();
            let listen = async move { Monitor::listen(&heard, events).await };
            owner.shared.tracker.spawn_on(listen, &owner.shared.runtime);
        }
        worker.started = true;
        owner.resize(slots);
        Ok(Queue::new(owner))
    }
}

impl<W: Worker, S> fmt::Debug for Builder<W, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("settings", &self.settings).finish_non_exhaustive()
    }
}
