//! Whether a queue does its work.

mod monitor;

pub(crate) use monitor::Monitor;

use std::sync::Arc;
use std::time::Duration;

/// Whether a queue does its work, and what was last seen of its broker.
///
/// ```
/// # use queue::{Queue, Ring, HealthState};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let queue = Queue::with_worker(Ring::new()).start(async |_: String| ())?;
/// assert!(queue.health().is_healthy());
/// queue.resize(0).await?;
/// assert_eq!(queue.health().state, HealthState::Paused);
/// # drop(queue.shutdown(std::time::Duration::ZERO).await?); Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// What the queue does.
    pub state: HealthState,
    /// How long ago the broker last answered a fetch, with jobs or without. None where there is no broker, or it never has.
    pub last_fetch: Option<Duration>,
    /// The last error of a call to the broker. It stays when the queue has recovered.
    pub last_error: Option<Arc<str>>,
    /// How often the connection was made again.
    pub reconnects: u64,
    /// The broker takes nothing for now.
    pub blocked: bool,
}

impl Health {
    /// Whether the queue consumes, or produces where that is all it is for. A connection alone is not enough.
    #[must_use]
    pub const fn is_healthy(&self) -> bool {
        matches!(self.state, HealthState::Consuming | HealthState::Producing)
    }
}

/// What a queue does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HealthState {
    /// Its slots ask for jobs and get answers, or are all busy.
    Consuming,
    /// It only takes jobs, and the connection stands.
    Producing,
    /// The broker has not answered a fetch yet.
    Starting,
    /// It has no slots.
    Paused,
    /// Calls to the broker fail, or the connection is gone. They are made again, for ever.
    Failing,
    /// A slot has waited for 30 s without an answer of the broker to any fetch.
    Stalled,
    /// It is shutting down.
    Stopping,
    /// It has ended: by a shutdown, or since its worker hands out nothing any more.
    Stopped,
}

impl HealthState {
    /// Its name, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Consuming => "consuming",
            Self::Producing => "producing",
            Self::Starting => "starting",
            Self::Paused => "paused",
            Self::Failing => "failing",
            Self::Stalled => "stalled",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
        }
    }
}
