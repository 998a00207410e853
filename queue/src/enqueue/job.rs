//! A job with options.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use queue_core::{Backoff, Delays, Entry, JobId, Priorities, Retries, Worker};

use super::enqueuer::AnyIntake;
use super::options::Options;
use super::{EnqueueError, Intake};

/// The options that every worker keeps.
macro_rules! common_options {
    () => {
        /// A header for the handler: any text as the name, any bytes as the value. Names that start with `jobqueue-`
        /// are reserved.
        pub fn header(mut self, name: impl Into<Box<str>>, value: impl Into<Bytes>) -> Self {
            self.options.header(name.into(), value.into());
            self
        }

        /// The limit of one attempt: above zero.
        pub fn timeout(mut self, limit: Duration) -> Self {
            self.options.timeout(limit);
            self
        }

        /// No attempt starts later than this after now: above zero.
        pub fn deadline(mut self, within: Duration) -> Self {
            self.options.deadline(within);
            self
        }

        /// Waits at most this long for room. Zero: not at all.
        pub fn within(mut self, bound: Duration) -> Self {
            self.options.within(bound);
            self
        }

        /// Enqueues it as the job `id`: one whose first enqueue was [unconfirmed](EnqueueError::Unconfirmed).
        pub fn id(mut self, id: JobId) -> Self {
            self.options.extra.id = Some(id);
            self
        }
    };
}

/// The options that ask something of the worker; `$bound` is what it must be able to do.
macro_rules! worker_options {
    ($bound:ty) => {
        /// Hands it out after this wait, not earlier.
        pub fn delay(mut self, after: Duration) -> Self
        where
            $bound: Delays,
        {
            self.options.extra.delay = Some(after);
            self
        }

        /// Higher is handed out first; 0 is the lowest and the default.
        pub fn priority(mut self, priority: u8) -> Self
        where
            $bound: Priorities,
        {
            self.options.extra.priority = priority;
            self
        }

        /// Retries after the first attempt: 1 makes at most 2 attempts.
        pub fn retries(mut self, retries: u32) -> Self
        where
            $bound: Retries,
        {
            self.options.extra.retries = Some(retries);
            self
        }

        /// The waits between its attempts.
        pub fn backoff(mut self, backoff: Backoff) -> Self
        where
            $bound: Retries,
        {
            self.options.backoff(backoff);
            self
        }
    };
}

/// A job with headers and options, made by [`Queue::job`](crate::Queue::job).
///
/// An option of the job wins over that of the queue. What the worker cannot keep does not compile.
///
/// ```
/// # use queue::{Queue, Ring};
/// # use std::time::Duration;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let queue = Queue::with_worker(Ring::new()).start(async |_: String| ())?;
/// queue.job("reminder".to_owned()).delay(Duration::from_secs(3600)).retries(1).enqueue().await?;
/// # drop(queue.shutdown(Duration::ZERO).await?); Ok(()) }
/// ```
#[must_use = "a job is queued by `enqueue` or `try_enqueue`"]
pub struct JobBuilder<'a, W: Worker> {
    intake: &'a Intake<W>,
    job: W::Job,
    options: Options,
}

impl<'a, W: Worker> JobBuilder<'a, W> {
    pub(crate) fn new(intake: &'a Intake<W>, job: W::Job) -> Self {
        Self { intake, job, options: Options::new() }
    }

    common_options!();
    worker_options!(W);

    /// Queues it: waits for room, then for the broker's confirmation.
    ///
    /// # Errors
    /// With the job: see [`EnqueueError`].
    ///
    /// # Cancel safety
    /// As [`Queue::enqueue`](crate::Queue::enqueue).
    pub async fn enqueue(self) -> Result<JobId, EnqueueError<W::Job>> {
        let wait = self.options.wait;
        let entry = checked(self.job, self.options, self.intake)?;
        self.intake.enqueue(entry, wait).await
    }

    /// Queues it if there is room now; on a broker waits for the confirmation, never for room.
    ///
    /// # Errors
    /// With the job: see [`EnqueueError`].
    ///
    /// # Cancel safety
    /// As [`Queue::enqueue`](crate::Queue::enqueue).
    pub async fn try_enqueue(self) -> Result<JobId, EnqueueError<W::Job>> {
        self.within(Duration::ZERO).enqueue().await
    }
}

/// A job with headers and options, made by [`Enqueuer::job`](crate::Enqueuer::job).
///
/// As [`JobBuilder`], but the worker is not known to the compiler: what it cannot keep is
/// [`EnqueueError::Unsupported`].
#[must_use = "a job is queued by `enqueue` or `try_enqueue`"]
pub struct ErasedJobBuilder<'a, J> {
    intake: &'a dyn AnyIntake<J>,
    job: J,
    options: Options,
}

impl<'a, J: Send + 'static> ErasedJobBuilder<'a, J> {
    pub(crate) fn new(intake: &'a dyn AnyIntake<J>, job: J) -> Self {
        Self { intake, job, options: Options::new() }
    }

    common_options!();
    worker_options!(queue_core::DynWorker<J>);

    /// Queues it: waits for room, then for the broker's confirmation.
    ///
    /// # Errors
    /// With the job: see [`EnqueueError`].
    ///
    /// # Cancel safety
    /// As [`Enqueuer::enqueue`](crate::Enqueuer::enqueue).
    pub async fn enqueue(self) -> Result<JobId, EnqueueError<J>> {
        let wait = self.options.wait;
        let entry = checked(self.job, self.options, self.intake)?;
        self.intake.enqueue(entry, wait).await
    }

    /// Queues it if there is room now; on a broker waits for the confirmation, never for room.
    ///
    /// # Errors
    /// With the job: see [`EnqueueError`].
    ///
    /// # Cancel safety
    /// As [`Enqueuer::enqueue`](crate::Enqueuer::enqueue).
    pub async fn try_enqueue(self) -> Result<JobId, EnqueueError<J>> {
        self.within(Duration::ZERO).enqueue().await
    }
}

/// The entry, unless an option makes no sense or cannot be kept. Nothing was done then.
fn checked<J, T: AnyIntake<J> + ?Sized>(job: J, options: Options, intake: &T) -> Result<Entry<J>, EnqueueError<J>> {
    if let Some(reason) = options.invalid {
        return Err(intake.reject(EnqueueError::Invalid { job, reason }));
    }
    let can = intake.capabilities();
    match can.refuses(&options.extra) {
        Some(feature) => Err(intake.reject(EnqueueError::Unsupported { job, backend: can.backend, feature })),
        None => Ok(Entry::with_extra(job, options.extra)),
    }
}

impl<W: Worker> fmt::Debug for JobBuilder<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobBuilder").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<J> fmt::Debug for ErasedJobBuilder<'_, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErasedJobBuilder").field("options", &self.options).finish_non_exhaustive()
    }
}
