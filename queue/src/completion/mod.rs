//! What is told of an attempt that has ended.

pub(crate) mod hooks;
#[cfg(feature = "metrics")]
pub(crate) mod metrics;
mod observed;

pub(crate) use observed::Observed;

use std::sync::Arc;
use std::time::Duration;

use queue_core::{JobId, Reason};

/// An attempt that has ended, as [`Builder::on_complete`](crate::Builder::on_complete) tells of it.
///
/// It comes after the worker has carried out the verdict: what it says has happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Completion {
    /// The queue's name.
    pub queue: Arc<str>,
    /// The identity of the job.
    pub id: JobId,
    /// Which attempt it was, from 1 on.
    pub attempt: u32,
    /// How the attempt ended.
    pub end: AttemptEnd,
    /// What becomes of the job.
    pub fate: Fate,
    /// From the start of the handler to its end.
    pub duration: Duration,
    /// The error with its causes, or the panic's message; empty where there was none.
    pub error: Box<str>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttemptEnd {
    /// The handler ended well.
    Ok,
    /// It returned an error, or asked for a retry.
    Failed,
    /// It panicked.
    Panicked,
    /// It took longer than its timeout.
    TimedOut,
    /// It was cut short: by a shutdown, a lost ownership, or its own snooze.
    Cancelled,
}

impl AttemptEnd {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Ok, Self::Failed, Self::Panicked, Self::TimedOut, Self::Cancelled];

    /// Its name in spans and metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Panicked => "panicked",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What becomes of a job after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fate {
    /// It is done.
    Done,
    /// It is tried again.
    Retried,
    /// It will not be tried again.
    Dead(Reason),
    /// It was handed back, and will be handed out as the same attempt.
    Returned,
    /// The worker kept no copy of it: it will not be handed out again.
    Gone,
    /// Somebody else has it.
    Lost,
}
