//! What a message carries beside the job.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tokio::time::Instant;

use crate::{Backoff, Headers, Stamp};

/// The identity of a job: the same through every retry, and in its dead letter.
///
/// A producer starts at a random 64-bit number and counts up, so an id costs neither a random
/// number nor a clock per job. It is shown, and travels in the `jobqueue-id` header, as 16 hexadecimal digits.
///
/// ```
/// use queue_core::JobId;
/// assert_eq!(JobId::from(255).to_string(), "00000000000000ff");
/// assert_eq!("00000000000000ff".parse(), Ok(JobId::from(255)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(u64);

impl JobId {
    /// The number.
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

impl JobId {
    /// The id of a message that has none of ours, made from the broker's own name of it: the same for the same name.
    ///
    /// 64-bit FNV-1a, as published by Fowler, Noll and Vo.
    #[must_use]
    pub const fn of_name(name: &str) -> Self {
        let (mut hash, mut index) = (0xcbf2_9ce4_8422_2325_u64, 0);
        while index < name.len() {
            hash = (hash ^ name.as_bytes()[index] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            index += 1;
        }
        Self(hash)
    }
}

/// A text that is no job id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a job id: 16 hexadecimal digits were expected")]
pub struct InvalidJobId;

impl FromStr for JobId {
    type Err = InvalidJobId;

    fn from_str(text: &str) -> Result<Self, InvalidJobId> {
        if text.len() != 16 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(InvalidJobId);
        }
        u64::from_str_radix(text, 16).map(Self).map_err(|_| InvalidJobId)
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
    /// How often the broker handed this copy of the message out before, as far as it tells.
    pub redeliveries: u32,
}
