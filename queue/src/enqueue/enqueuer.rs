//! The erased end of a queue: what a service keeps in its state.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use queue_core::{Capabilities, Entry, JobId, Worker};

use super::{EnqueueError, EnqueueManyError, ErasedJobBuilder, Intake, Wait, entries};

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
pub(crate) type BoxedEnqueue<'a, J> = Boxed<'a, Result<JobId, EnqueueError<J>>>;
pub(crate) type BoxedEnqueueMany<'a, J> = Boxed<'a, Result<Vec<JobId>, EnqueueManyError<J>>>;

/// [`Intake`], object-safe. `try_one` allocates nothing; only a wait is a boxed future.
pub(crate) trait AnyIntake<J>: Send + Sync {
    fn try_one(&self, job: J) -> Result<JobId, J>;
    fn enqueue(&self, entry: Entry<J>, wait: Wait) -> BoxedEnqueue<'_, J>;
    fn enqueue_many(&self, entries: Vec<Entry<J>>, wait: Wait) -> BoxedEnqueueMany<'_, J>;
    fn capabilities(&self) -> &Capabilities;
    fn reject(&self, error: EnqueueError<J>) -> EnqueueError<J>;
}

impl<W: Worker> AnyIntake<W::Job> for Intake<W> {
    #[inline]
    fn try_one(&self, job: W::Job) -> Result<JobId, W::Job> {
        self.worker.try_one(job)
    }

    fn enqueue(&self, entry: Entry<W::Job>, wait: Wait) -> BoxedEnqueue<'_, W::Job> {
        Box::pin(Self::enqueue(self, entry, wait))
    }

    fn enqueue_many(&self, entries: Vec<Entry<W::Job>>, wait: Wait) -> BoxedEnqueueMany<'_, W::Job> {
        Box::pin(Self::enqueue_many(self, entries, wait))
    }

    fn capabilities(&self) -> &Capabilities {
        self.worker.capabilities()
    }

    fn reject(&self, error: EnqueueError<W::Job>) -> EnqueueError<W::Job> {
        Self::reject(self, error)
    }
}

/// Queues jobs and names no broker: the type to keep in a service's state.
///
/// It is made before the queue starts or after, works inside handlers, and holds the worker but never the engine: a
/// queue ends when its last [`Queue`](crate::Queue) handle goes, however many enqueuers there are. While there is room
/// an enqueue allocates nothing. Clones are cheap.
///
/// ```
/// # use queue::{Queue, Ring, Enqueuer};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// struct Service { emails: Enqueuer<String> }
///
/// let builder = Queue::with_worker(Ring::new());
/// let service = Service { emails: builder.enqueuer() };
/// let queue = builder.start(async |to: String| println!("sent to {to}"))?;
/// service.emails.enqueue("a@example.org".into()).await?;
/// let report = queue.shutdown(std::time::Duration::from_secs(5)).await?;
/// assert_eq!(report.stats().done, 1);
/// # Ok(()) }
/// ```
pub struct Enqueuer<J>(pub(crate) Arc<dyn AnyIntake<J>>);

impl<J: Send + 'static> Enqueuer<J> {
    pub(crate) fn new<W: Worker<Job = J>>(intake: Arc<Intake<W>>) -> Self {
        Self(intake)
    }

    /// Queues a job: waits for room, then for the broker's confirmation.
    ///
    /// # Errors
    /// With the job: the queue is closed, or what the broker says.
    ///
    /// # Cancel safety
    /// A dropped future that was not ready has queued nothing on the ring, and at most once on a broker.
    pub async fn enqueue(&self, job: J) -> Result<JobId, EnqueueError<J>> {
        self.send(job, Wait::Long).await
    }

    /// Queues a job if there is room now; on a broker waits for the confirmation, never for room.
    ///
    /// # Errors
    /// With the job: there is no room, the queue is closed, or what the broker says.
    ///
    /// # Cancel safety
    /// As [`enqueue`](Self::enqueue).
    pub async fn try_enqueue(&self, job: J) -> Result<JobId, EnqueueError<J>> {
        self.send(job, Wait::Not).await
    }

    /// Queues many jobs, in order, with one call to the worker: waits for room as [`enqueue`](Self::enqueue) does.
    ///
    /// # Errors
    /// The ids of those that were accepted, and each other job with its own error, both in order.
    ///
    /// # Cancel safety
    /// A dropped future has queued a part of them, from the first on.
    pub async fn enqueue_many(&self, jobs: impl IntoIterator<Item = J>) -> Result<Vec<JobId>, EnqueueManyError<J>> {
        self.0.enqueue_many(entries(jobs), Wait::Long).await
    }

    /// Queues those of many jobs that there is room for now, from the first on.
    ///
    /// # Errors
    /// As [`enqueue_many`](Self::enqueue_many).
    ///
    /// # Cancel safety
    /// As [`enqueue_many`](Self::enqueue_many).
    pub async fn try_enqueue_many(&self, jobs: impl IntoIterator<Item = J>) -> Result<Vec<JobId>, EnqueueManyError<J>> {
        self.0.enqueue_many(entries(jobs), Wait::Not).await
    }

    /// A job with options. What the worker cannot do is an error of the enqueue.
    pub fn job(&self, job: J) -> ErasedJobBuilder<'_, J> {
        ErasedJobBuilder::new(&*self.0, job)
    }

    #[inline]
    async fn send(&self, job: J, wait: Wait) -> Result<JobId, EnqueueError<J>> {
        match self.0.try_one(job) {
            Ok(id) => Ok(id),
            Err(job) => self.0.enqueue(Entry::new(job), wait).await,
        }
    }
}

impl<J> Clone for Enqueuer<J> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<J: 'static> fmt::Debug for Enqueuer<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enqueuer").field("backend", &self.0.capabilities().backend).finish()
    }
}
