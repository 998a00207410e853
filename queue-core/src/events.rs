//! What happens between a worker and its broker.

use std::sync::Arc;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Something that happened between a worker and its broker.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// The broker answered a fetch, with deliveries or without.
    Fetched,
    /// A connection stands.
    Connected,
    /// The connection is gone; the worker is making a new one.
    Disconnected(Arc<str>),
    /// A call failed.
    Failed(Arc<str>),
    /// The broker takes nothing for now (an alarm, a full disk), or takes again.
    Blocked(bool),
    /// The worker hands out nothing any more, and nobody had asked it to end.
    Closed,
}

/// The end of an event stream that a worker writes to. Clones write to the same stream.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use queue_core::{Event, EventLog};
/// let log = EventLog::new(16);
/// let mut events = log.events();
/// log.note(Event::Connected);
/// assert!(matches!(events.next().await, Some(Event::Connected)));
/// # });
/// ```
#[derive(Debug, Clone)]
pub struct EventLog(broadcast::Sender<Event>);

impl EventLog {
    /// A stream that keeps the last `kept` events (at least 1) for readers that lag.
    #[must_use]
    pub fn new(kept: usize) -> Self {
        Self(broadcast::Sender::new(kept.max(1)))
    }

    /// Tells every reader. Without a reader nothing happens.
    pub fn note(&self, event: Event) {
        // The only error is that nobody listens.
        drop(self.0.send(event));
    }

    /// A reader of what happens from now on.
    #[must_use]
    pub fn events(&self) -> Events {
        Events { receiver: Some(self.0.subscribe()), missed: 0 }
    }
}

/// The end of an event stream that an engine reads.
#[derive(Debug)]
pub struct Events {
    receiver: Option<broadcast::Receiver<Event>>,
    missed: u64,
}

impl Events {
    /// A stream of a worker that has nothing to tell.
    #[must_use]
    pub const fn none() -> Self {
        Self { receiver: None, missed: 0 }
    }

    /// Whether there will never be an event.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.receiver.is_none()
    }

    /// The next event; none when there will be no more.
    ///
    /// # Cancel safety
    /// A dropped future loses no event.
    pub async fn next(&mut self) -> Option<Event> {
        let receiver = self.receiver.as_mut()?;
        loop {
            match receiver.recv().await {
                Ok(event) => return Some(event),
                Err(RecvError::Lagged(missed)) => self.missed += missed,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// How many events were overwritten before they were read.
    #[must_use]
    pub const fn missed(&self) -> u64 {
        self.missed
    }
}
