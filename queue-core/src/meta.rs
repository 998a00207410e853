//! What a message carries beside the job.

use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

use crate::{Backoff, Headers, Stamp};

/// The identity of a job: the same through every retry, and in its dead letter.
///
/// A producer starts at a random 64-bit number and counts up, so an id costs neither a random
/// number nor a clock per job. Shown as 16 hexadecimal digits.
///
/// ```
/// use queue_core::JobId;
/// assert_eq!(JobId::from(255).to_string(), "00000000000000ff");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(u64);

impl JobId {
    /// The number, as it travels in the `jobqueue-id` header.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl From<u64> for JobId {
    #[inline]
    fn from(id: u64) -> Self {
        Self(id)
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The metadata of a message: 24 bytes, the whole overhead of a job in the ring.
///
/// What most jobs never have is behind one pointer, in [`Extra`].
#[derive(Debug, Default, Clone)]
pub struct Meta {
    /// The identity of the job.
    pub id: JobId,
    /// Which attempt this delivery is: 1 for the first. Counted before the handler starts.
    pub attempt: u32,
    /// When the job was first enqueued, on the worker's [`Clock`](crate::Clock).
    pub enqueued: Stamp,
    /// Headers and options, where there are any.
    pub extra: Option<Box<Extra>>,
}

/// Headers and options of one job.
///
/// ```
/// use queue_core::Extra;
/// let extra = Extra::default();
/// assert_eq!(extra.priority, 0);
/// assert!(extra.headers.is_empty());
/// ```
#[derive(Debug, Default, Clone)]
#[non_exhaustive]
pub struct Extra {
    /// The id to publish under, instead of a new one: a job whose first publish was unconfirmed is sent again as the same job.
    pub id: Option<JobId>,
    /// User headers, in the order in which they were set. Names that start with `jobqueue-` are reserved.
    pub headers: Headers,
    /// How long after the enqueue the job may first be handed out.
    pub delay: Option<Duration>,
    /// Higher is handed out first; 0 is the lowest and the default.
    pub priority: u8,
    /// No attempt starts after this instant.
    pub deadline: Option<Instant>,
    /// Retries after the first attempt, instead of the queue's.
    pub retries: Option<u32>,
    /// Waits between attempts, instead of the queue's.
    pub backoff: Option<Backoff>,
    /// Limit of one attempt, instead of the queue's.
    pub timeout: Option<Duration>,
    /// The broker's own name of a message that came without an id of ours
    /// (a stream id, `topic:partition:offset`).
    pub source: Option<Box<str>>,
    /// Whether the broker handed this message out before.
    pub redelivered: bool,
}
