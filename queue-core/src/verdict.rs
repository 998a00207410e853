//! What shall become of a delivery.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What the engine tells the worker about a delivery.
///
/// Exhaustive on purpose: a new verdict is a new major version, never one that a backend overlooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The job is done.
    Ack,
    /// An attempt was spent: hand the job out again, as the next attempt, not before `after`.
    Retry {
        /// How long to wait, by the broker's clock.
        after: Duration,
    },
    /// The job will not be tried again: keep it as a dead letter.
    Dead {
        /// Why.
        cause: Box<Cause>,
    },
    /// Handed back: hand the job out again, as the same attempt, not before `after`.
    Return {
        /// How long to wait, by the broker's clock. Zero: at once.
        after: Duration,
    },
}

/// Why a job is dead, and the last error it met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The rule that ended it.
    pub reason: Reason,
    /// The last error with its whole chain, or the panic's message. Empty where there was none.
    pub error: Box<str>,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Some errors begin with their reason: it is shown once.
        match (self.error.is_empty(), self.error.starts_with(self.reason.as_str())) {
            (true, _) => f.write_str(self.reason.as_str()),
            (false, true) => f.write_str(&self.error),
            (false, false) => write!(f, "{}: {}", self.reason, self.error),
        }
    }
}

/// The rule that ended a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The last attempt that its policy allows has failed.
    AttemptsExhausted,
    /// The handler said that no further attempt can help.
    Permanent,
    /// Its deadline passed before an attempt could start.
    Deadline,
    /// The handler panicked, and the policy does not try again after a panic.
    Panicked,
    /// The body is no job of this queue.
    Undecodable,
    /// No handler is registered for its kind.
    NoHandler,
}

/// A text that names no [`Reason`] of this build.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no reason of a dead letter that this build knows")]
pub struct UnknownReason;

impl FromStr for Reason {
    type Err = UnknownReason;

    fn from_str(text: &str) -> Result<Self, UnknownReason> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text).ok_or(UnknownReason)
    }
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::AttemptsExhausted, Self::Permanent, Self::Deadline, Self::Panicked, Self::Undecodable, Self::NoHandler];

    /// The text that a dead letter carries, in `jobqueue-reason`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AttemptsExhausted => "attempts exhausted",
            Self::Permanent => "permanent error",
            Self::Deadline => "deadline passed",
            Self::Panicked => "panicked",
            Self::Undecodable => "undecodable",
            Self::NoHandler => "no handler",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_read_back_from_its_text() {
        for reason in Reason::ALL {
            assert_eq!(reason.as_str().parse(), Ok(reason));
        }
        assert_eq!("tired".parse::<Reason>(), Err(UnknownReason));
    }
}
