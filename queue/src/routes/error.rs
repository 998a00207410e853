//! Why a route makes no sense.

use queue_core::{Feature, InvalidBackoff};

/// Why a route makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRoute {
    /// Its kind is empty.
    #[error("a kind needs a name")]
    Unnamed,
    /// Another handler has its kind.
    #[error("a kind has one handler, and this one has two")]
    Duplicate,
    /// A timeout of zero would end every attempt.
    #[error("a timeout of 0 would end every attempt: leave it out for that of the queue")]
    TimeoutZero,
    /// A deadline of zero has passed before the job is queued.
    #[error("a deadline of 0 would let no attempt start: leave it out for that of the queue")]
    DeadlineZero,
    /// The waits between attempts make no sense.
    #[error("the retry policy makes no sense")]
    Backoff(#[from] InvalidBackoff),
    /// The worker cannot do what its options ask for.
    #[error("the {backend} worker has no {feature}: leave the option out or choose another worker")]
    Unsupported {
        /// The name of the backend.
        backend: &'static str,
        /// What it cannot do.
        feature: Feature,
    },
}
