//! The handle of a running queue.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use queue_core::{Demand, Entry, Events, JobId, Worker};
use tokio::time::Instant;

use crate::builder::MAX_SLOTS;
use crate::control::Phase;
use crate::engine::Shared;
use crate::enqueue::{EnqueueError, EnqueueManyError, Enqueuer, JobBuilder, Wait, entries};
use crate::health::Monitor;
use crate::shutdown::{Report, ShutdownError, ShutdownHandle, after};
use crate::slot::Slot;
use crate::{Builder, Health, Stats};

/// Puts a slot's task on the runtime: its place and itself.
pub(crate) type Spawn = Box<dyn Fn(usize, Arc<Slot>) + Send + Sync>;

/// Why the number of slots cannot be changed. Nothing was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResizeError {
    /// The queue is shutting down.
    #[error("the queue is closed")]
    Closed,
    /// The queue was started as a producer.
    #[error("the queue has no handler: start it with `start` to let it run jobs")]
    NoHandler,
    /// More slots than a queue can have.
    #[error("{slots} slots are more than the {max} that a queue can have")]
    TooManySlots {
        /// The slots that were asked for.
        slots: usize,
        /// The most there can be.
        max: usize,
    },
}

/// A running queue: jobs go in, its handler runs them, and it ends by [`shutdown`](Self::shutdown).
///
/// Clones are the same queue. When the last is dropped without a shutdown, that is a shutdown with no time.
///
/// ```
/// use queue::{Queue, Ring};
/// use std::time::Duration;
///
/// async fn send_email(to: String) {
///     println!("sent to {to}");
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let queue = Queue::with_worker(Ring::new()).slots(4).start(send_email)?;
/// queue.enqueue("a@example.org".to_owned()).await?;
/// let report = queue.shutdown(Duration::from_secs(10)).await?;
/// assert_eq!(report.stats().done, 1);
/// # Ok(()) }
/// ```
pub struct Queue<W: Worker>(pub(crate) Arc<Owner<W>>);

/// What all handles of a queue share. The slots do not: its drop ends them.
pub(crate) struct Owner<W: Worker> {
    pub(crate) shared: Arc<Shared<W>>,
    /// None: a queue that only takes jobs.
    pub(crate) spawn: Option<Spawn>,
    pub(crate) resizing: tokio::sync::Mutex<()>,
}

impl<W: Worker> Owner<W> {
    pub(crate) fn resize(&self, slots: usize) -> u32 {
        self.shared.worker().demand(Demand::of(slots));
        let epoch = self.shared.control.set_target(slots);
        if let Some(spawn) = &self.spawn {
            self.shared.fill(slots).into_iter().for_each(|(place, slot)| spawn(place, slot));
        }
        self.shared.wake_slots();
        epoch
    }
}

impl<W: Worker> Drop for Owner<W> {
    fn drop(&mut self) {
        self.shared.shut_down(Instant::now());
    }
}

impl<W: Worker> Queue<W> {
    /// A queue over `worker`: the only line that names a broker.
    pub fn with_worker(worker: W) -> Builder<W> {
        Builder::new(worker)
    }

    pub(crate) fn shared(&self) -> &Shared<W> {
        &self.0.shared
    }

    pub(crate) fn new(owner: Owner<W>) -> Self {
        Self(Arc::new(owner))
    }

    /// Queues a job: waits for room, then for the broker's confirmation. The id is the one that handlers see.
    ///
    /// # Errors
    /// With the job: the queue is closed, or what the broker says.
    ///
    /// # Cancel safety
    /// A dropped future that was not ready has queued nothing on the ring, and at most once on a broker.
    #[inline]
    pub async fn enqueue(&self, job: W::Job) -> Result<JobId, EnqueueError<W::Job>> {
        // Written out, not shared with `try_enqueue`: a future in a future costs a fifth of a whole enqueue.
        match self.worker().try_one(job) {
            Ok(id) => Ok(id),
            Err(job) => self.0.shared.intake.enqueue(Entry::new(job), Wait::Long).await,
        }
    }

    /// Queues a job if there is room now; on a broker waits for the confirmation, never for room.
    ///
    /// # Errors
    /// With the job: there is no room, the queue is closed, or what the broker says.
    ///
    /// # Cancel safety
    /// As [`enqueue`](Self::enqueue).
    #[inline]
    pub async fn try_enqueue(&self, job: W::Job) -> Result<JobId, EnqueueError<W::Job>> {
        match self.worker().try_one(job) {
            Ok(id) => Ok(id),
            Err(job) => self.0.shared.intake.enqueue(Entry::new(job), Wait::Not).await,
        }
    }

    /// Queues many jobs, in order, with one call to the worker: waits for room as [`enqueue`](Self::enqueue) does.
    ///
    /// An empty list is Ok and empty.
    ///
    /// # Errors
    /// The ids of those that were accepted, and each other job with its own error, both in order.
    ///
    /// # Cancel safety
    /// A dropped future has queued a part of them, from the first on.
    pub async fn enqueue_many(
        &self,
        jobs: impl IntoIterator<Item = W::Job>,
    ) -> Result<Vec<JobId>, EnqueueManyError<W::Job>> {
        self.0.shared.intake.enqueue_many(entries(jobs), Wait::Long).await
    }

    /// Queues those of many jobs that there is room for now, from the first on.
    ///
    /// # Errors
    /// As [`enqueue_many`](Self::enqueue_many).
    ///
    /// # Cancel safety
    /// As [`enqueue_many`](Self::enqueue_many).
    pub async fn try_enqueue_many(
        &self,
        jobs: impl IntoIterator<Item = W::Job>,
    ) -> Result<Vec<JobId>, EnqueueManyError<W::Job>> {
        self.0.shared.intake.enqueue_many(entries(jobs), Wait::Not).await
    }

    /// A job with headers and options.
    pub fn job(&self, job: W::Job) -> JobBuilder<'_, W> {
        JobBuilder::new(&self.0.shared.intake, job)
    }

    /// An end of the queue that names no broker and keeps no engine alive.
    #[must_use]
    pub fn enqueuer(&self) -> Enqueuer<W::Job> {
        Enqueuer::new(self.0.shared.intake.clone())
    }

    /// The worker: for what only it can do, such as [`Inspects`](crate::Inspects) or [`Cancels`](crate::Cancels).
    #[inline]
    #[must_use]
    pub fn worker(&self) -> &W {
        self.0.shared.worker()
    }

    /// Changes how many jobs may run at once. 0 pauses this process.
    ///
    /// Running jobs finish, whatever the number: a smaller one is reached as they do. When the future is ready, no job
    /// starts before fewer than the number run. A handler that blocks its thread holds it up.
    ///
    /// # Errors
    /// The queue is shutting down, has no handler, or the number is absurd. Nothing was changed.
    ///
    /// # Cancel safety
    /// The change is made in the first poll in which no other resize is under way; a dropped future then only stops
    /// waiting for it to be followed.
    pub async fn resize(&self, slots: usize) -> Result<(), ResizeError> {
        if self.0.spawn.is_none() {
            return Err(ResizeError::NoHandler);
        }
        if slots > MAX_SLOTS {
            return Err(ResizeError::TooManySlots { slots, max: MAX_SLOTS });
        }
        let turn = self.0.resizing.lock().await;
        if self.0.shared.control.phase() != Phase::Running {
            return Err(ResizeError::Closed);
        }
        let epoch = self.0.resize(slots);
        drop(turn);
        let followed = |slot: &Arc<Slot>| slot.seen.load(Ordering::Acquire).wrapping_sub(epoch) < u32::MAX / 2;
        self.0.shared.until(|slots| slots.live().all(followed)).await;
        Ok(())
    }

    /// How many jobs may run at once.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.0.shared.control.target()
    }

    /// The queue's name: as it was [given](Builder::name), else the broker's, else that of the backend.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.shared.home.queue
    }

    /// Whether the queue does its work, and what was last seen of its broker.
    #[must_use]
    pub fn health(&self) -> Health {
        Monitor::health(&self.0.shared, self.0.spawn.is_none())
    }

    /// What happens between this queue and its broker from now on: connections that come and go, calls that fail.
    ///
    /// Fetches are left out, for there are many: [`health`](Self::health) has the last. The stream keeps 64 events for a
    /// reader that lags. The ring has no broker, and little to tell.
    #[must_use]
    pub fn events(&self) -> Events {
        self.0.shared.monitor.events()
    }

    /// Ends the queue, without keeping it alive: for its own handlers, and whatever watches over a service.
    #[must_use]
    pub fn shutdown_handle(&self) -> ShutdownHandle {
        self.0.shared.home.shutdown_handle()
    }

    /// A reading of what was counted. It allocates nothing.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats::read(&self.0.shared)
    }

    /// Ends the queue within `time`, and accounts for every job.
    ///
    /// Intake stops at once. What has not started is drained or handed back, as
    /// [`Builder::on_shutdown`](crate::Builder::on_shutdown) says; waits for a retry are cut. Running jobs end until the deadline;
    /// then they are told to stop, dropped and handed back. A blocking handler cannot be stopped: the report counts it
    /// as abandoned, and a later call waits for it. It answers by the deadline plus 1 s.
    ///
    /// Called again, or at once by several, it is one shutdown: until the latest deadline, with one report.
    /// Called by a handler of the queue, which it then waits for, it answers at its deadline.
    ///
    /// # Errors
    /// The worker did not end cleanly. The report is in the error.
    ///
    /// # Cancel safety
    /// A dropped future does not stop the shutdown; a later call joins it.
    pub async fn shutdown(&self, time: Duration) -> Result<Report<W::Job>, ShutdownError<W::Job>> {
        let deadline = after(time);
        self.0.shared.shut_down(deadline);
        self.0.shared.shutdown.wait(&self.0.shared, deadline).await
    }
}

impl<W: Worker> Clone for Queue<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: Worker> fmt::Debug for Queue<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
