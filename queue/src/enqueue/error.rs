//! Why a job was not queued. The job comes back.

use queue_core::{Answer, Entry, Feature, JobId, Refusal, WorkerError};

/// Why a job was not queued, with the job.
///
/// ```
/// use queue::EnqueueError;
/// let error = EnqueueError::Full("job");
/// assert_eq!(error.into_job(), "job");
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum EnqueueError<J> {
    /// There is no room, and the call does not wait for it.
    #[error("the queue is full")]
    Full(J),
    /// The queue is shutting down.
    #[error("the queue is closed")]
    Closed(J),
    /// No room came within the bound of the call.
    #[error("no room within the time allowed")]
    Timeout(J),
    /// The encoded body is above the broker's limit.
    #[error("the body is larger than the {limit} bytes that this queue takes")]
    TooLarge {
        /// The job.
        job: J,
        /// The limit in bytes.
        limit: usize,
    },
    /// The broker has no queue for it.
    #[error("the broker has no such queue: declare it first")]
    Unroutable(J),
    /// The job asks for what this worker cannot do.
    #[error("the {backend} worker has no {feature}")]
    Unsupported {
        /// The job.
        job: J,
        /// The name of the backend.
        backend: &'static str,
        /// What it cannot do.
        feature: Feature,
    },
    /// An option of the job makes no sense.
    #[error("{reason}")]
    Invalid {
        /// The job.
        job: J,
        /// Which option, and which range.
        reason: Box<str>,
    },
    /// The codec could not write the job.
    #[error("the job cannot be encoded: {reason}")]
    Unencodable {
        /// The job.
        job: J,
        /// Why.
        reason: Box<str>,
    },
    /// The broker may have the job: its confirmation did not come. Enqueued again with
    /// [`JobBuilder::id`](crate::JobBuilder::id) it is the same job.
    #[error("the broker did not confirm the job {id}: it may have it")]
    Unconfirmed {
        /// The job.
        job: J,
        /// The id it was sent under.
        id: JobId,
    },
    /// The broker call failed, and nothing was done.
    #[error("the broker call failed")]
    Worker {
        /// The job.
        job: J,
        /// What failed.
        source: WorkerError,
    },
}

impl<J> EnqueueError<J> {
    /// The job.
    pub fn into_job(self) -> J {
        match self {
            Self::Full(job)
            | Self::Closed(job)
            | Self::Timeout(job)
            | Self::Unroutable(job)
            | Self::TooLarge { job, .. }
            | Self::Unsupported { job, .. }
            | Self::Invalid { job, .. }
            | Self::Unencodable { job, .. }
            | Self::Unconfirmed { job, .. }
            | Self::Worker { job, .. } => job,
        }
    }

    /// What became of an entry that was not accepted. None where the worker has the job after all.
    pub(crate) fn of(mut entry: Entry<J>, failed: Option<WorkerError>, backend: &'static str) -> Result<JobId, Self> {
        let answer = entry.reopen();
        if let Answer::Accepted(id) = answer {
            return Ok(id);
        }
        let Some(job) = entry.into_job() else { return Ok(JobId::default()) };
        Err(match (answer, failed) {
            (Answer::Unconfirmed(id), _) => Self::Unconfirmed { job, id },
            (Answer::Refused(why), _) => Self::refused(job, why, backend),
            (Answer::Open | Answer::Accepted(_), Some(source)) => Self::Worker { job, source },
            (Answer::Open | Answer::Accepted(_), None) => Self::Timeout(job),
        })
    }

    fn refused(job: J, why: Refusal, backend: &'static str) -> Self {
        match why {
            Refusal::Full => Self::Full(job),
            Refusal::Closed => Self::Closed(job),
            Refusal::TooLarge { limit } => Self::TooLarge { job, limit },
            Refusal::Unroutable => Self::Unroutable(job),
            Refusal::Unsupported(feature) => Self::Unsupported { job, backend, feature },
            Refusal::Unencodable(reason) => Self::Unencodable { job, reason },
            Refusal::Rejected(source) => Self::Worker { job, source },
            other => Self::Worker { job, source: WorkerError::fatal(format!("the worker refused the job: {other:?}")) },
        }
    }
}

/// Shows no job.
impl<J> std::fmt::Debug for EnqueueError<J> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = match self {
            Self::Full(_) => "Full",
            Self::Closed(_) => "Closed",
            Self::Timeout(_) => "Timeout",
            Self::TooLarge { .. } => "TooLarge",
            Self::Unroutable(_) => "Unroutable",
            Self::Unsupported { .. } => "Unsupported",
            Self::Invalid { .. } => "Invalid",
            Self::Unencodable { .. } => "Unencodable",
            Self::Unconfirmed { .. } => "Unconfirmed",
            Self::Worker { .. } => "Worker",
        };
        write!(f, "{name}({self})")
    }
}

/// What became of a batch that was not queued whole.
#[derive(Debug, thiserror::Error)]
#[error("{} of {} jobs were not queued", refused.len(), refused.len() + accepted.len())]
pub struct EnqueueManyError<J> {
    /// The ids of the accepted jobs, in order.
    pub accepted: Vec<JobId>,
    /// The other jobs with what happened to each, in order.
    pub refused: Vec<EnqueueError<J>>,
}
