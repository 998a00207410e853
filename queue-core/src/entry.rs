//! A job on its way in, and the answer it gets.

use crate::{Extra, Feature, JobId, WorkerError};

/// What happened to an [`Entry`].
///
/// Exhaustive on purpose: a new answer is a new major version, never one that an engine overlooks.
#[derive(Debug)]
pub enum Answer {
    /// Not answered yet.
    Open,
    /// Confirmed by the broker (the ring: in the ring). The worker has the job.
    Accepted(JobId),
    /// Nothing was done. The job is in the entry.
    Refused(Refusal),
    /// The outcome is unknown: the broker may have the message under this id. The job is in the entry.
    Unconfirmed(JobId),
}

/// Why nothing was done with a job.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// No room.
    Full,
    /// The worker was closed.
    Closed,
    /// The encoded body is above the limit of [`Capabilities`](crate::Capabilities), in bytes.
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The broker found no queue for it.
    Unroutable,
    /// The job asks for what this worker cannot do.
    Unsupported(Feature),
    /// The codec could not write it.
    Unencodable(Box<str>),
    /// The broker said no.
    Rejected(WorkerError),
}

/// A job on its way in, answered in place: whatever happens to the call, each job has one owner.
///
/// ```
/// use queue_core::{Answer, Entry, JobId, Refusal};
/// let mut entry = Entry::new("job");
/// entry.refuse(Refusal::Full);
/// assert_eq!(entry.into_job(), Some("job"));
///
/// let mut entry = Entry::new("job");
/// let (job, _extra) = entry.accept(JobId::from(7)).unwrap();
/// assert_eq!((job, matches!(entry.answer(), Answer::Accepted(_))), ("job", true));
/// ```
#[derive(Debug)]
pub struct Entry<J> {
    job: Option<J>,
    extra: Option<Box<Extra>>,
    answer: Answer,
}

impl<J> Entry<J> {
    /// A job without options.
    #[inline]
    #[must_use]
    pub const fn new(job: J) -> Self {
        Self { job: Some(job), extra: None, answer: Answer::Open }
    }

    /// A job with headers and options.
    #[must_use]
    pub fn with_extra(job: J, extra: Extra) -> Self {
        Self { job: Some(job), extra: Some(Box::new(extra)), answer: Answer::Open }
    }

    /// What happened so far.
    #[inline]
    #[must_use]
    pub const fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Whether the worker still has to answer.
    #[inline]
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.answer, Answer::Open)
    }

    /// The id of the job, where the worker has it.
    #[inline]
    #[must_use]
    pub const fn accepted(&self) -> Option<JobId> {
        if let Answer::Accepted(id) = self.answer { Some(id) } else { None }
    }

    /// The job, unless it was accepted. A broker encodes from here.
    #[inline]
    #[must_use]
    pub const fn job(&self) -> Option<&J> {
        self.job.as_ref()
    }

    /// Headers and options.
    #[inline]
    #[must_use]
    pub fn extra(&self) -> Option<&Extra> {
        self.extra.as_deref()
    }

    /// Answers *accepted*, and gives the job to the worker: the ring keeps it, a broker drops it. None where it was accepted before.
    #[inline]
    pub fn accept(&mut self, id: JobId) -> Option<(J, Option<Box<Extra>>)> {
        self.answer = Answer::Accepted(id);
        Some((self.job.take()?, self.extra.take()))
    }

    /// Answers *refused*: the job stays.
    #[inline]
    pub fn refuse(&mut self, why: Refusal) {
        self.answer = Answer::Refused(why);
    }

    /// Answers *unconfirmed*: the job stays.
    #[inline]
    pub fn unconfirmed(&mut self, id: JobId) {
        self.answer = Answer::Unconfirmed(id);
    }

    /// Takes the answer out; the entry can be asked about again.
    ///
    /// An unconfirmed one keeps its id: whatever the broker has of it, it stays one job.
    #[inline]
    pub fn reopen(&mut self) -> Answer {
        let answer = std::mem::replace(&mut self.answer, Answer::Open);
        if let Answer::Unconfirmed(id) = answer {
            self.extra.get_or_insert_default().id = Some(id);
        }
        answer
    }

    /// Job and options by value, for a worker that takes one entry at once.
    #[inline]
    #[must_use]
    pub fn into_parts(self) -> Option<(J, Option<Box<Extra>>)> {
        Some((self.job?, self.extra))
    }

    /// The job, unless it was accepted.
    #[inline]
    #[must_use]
    pub fn into_job(self) -> Option<J> {
        self.job
    }
}
