//! How code that must not keep a queue alive ends it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use queue_core::Worker;
use tokio::sync::watch;
use tokio::time::Instant;

use super::after;
use crate::Stats;
use crate::engine::Shared;

/// The engine, whatever its worker is, as far as its end goes.
pub(crate) trait Ends: Send + Sync {
    fn shut_down(self: Arc<Self>, deadline: Instant) -> Pin<Box<dyn Future<Output = Stats> + Send>>;
    fn deadlines(&self) -> watch::Receiver<Option<Instant>>;
}

impl<W: Worker> Ends for Shared<W> {
    fn shut_down(self: Arc<Self>, deadline: Instant) -> Pin<Box<dyn Future<Output = Stats> + Send>> {
        Self::shut_down(&self, deadline);
        Box::pin(async move {
            match self.shutdown.wait(&self, deadline).await {
                Ok(report) => *report.stats(),
                Err(error) => *error.report.stats(),
            }
        })
    }

    fn deadlines(&self) -> watch::Receiver<Option<Instant>> {
        self.shutdown.deadlines()
    }
}

/// Ends a queue without keeping it alive: for its own handlers, hooks, and whatever watches over a service.
///
/// ```
/// # use queue::{Context, Queue, Ring};
/// # use std::time::Duration;
/// async fn import(row: String, cx: Context) {
///     if row == "end of file" {
///         cx.shutdown_handle().begin(Duration::from_secs(10));
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let queue = Queue::with_worker(Ring::new()).start(import)?;
/// queue.enqueue("end of file".to_owned()).await?;
/// queue.shutdown_handle().begun().await;
/// # drop(queue.shutdown(Duration::from_secs(10)).await?); Ok(()) }
/// ```
#[derive(Clone)]
pub struct ShutdownHandle(Weak<dyn Ends>);

impl ShutdownHandle {
    pub(crate) fn new(ends: Weak<dyn Ends>) -> Self {
        Self(ends)
    }

    /// Begins the shutdown, as [`Queue::shutdown`](crate::Queue::shutdown) does, and does not wait for it.
    pub fn begin(&self, time: Duration) {
        if let Some(engine) = self.0.upgrade() {
            drop(engine.shut_down(after(time)));
        }
    }

    /// Begins the shutdown and waits for it: at most for `time` and 1 s. None if the queue was gone before.
    ///
    /// A handler that waits for the end of its own queue waits for itself: it has its answer, with itself still running, when
    /// `time` is over. The jobs that never ran are in the report of [`Queue::shutdown`](crate::Queue::shutdown).
    ///
    /// # Cancel safety
    /// A dropped future does not stop the shutdown.
    pub async fn shutdown(&self, time: Duration) -> Option<Stats> {
        let answer = self.0.upgrade()?.shut_down(after(time));
        Some(answer.await)
    }

    /// Whether a shutdown has begun: no later attempt will start where the queue returns what has not started.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        self.0.upgrade().is_none_or(|engine| engine.deadlines().borrow().is_some())
    }

    /// Waits until a shutdown has begun: a long job may save what it has and snooze.
    ///
    /// # Cancel safety
    /// A dropped future loses nothing.
    pub async fn begun(&self) {
        let Some(mut deadlines) = self.0.upgrade().map(|engine| engine.deadlines()) else { return };
        // An engine that is gone has ended.
        drop(deadlines.wait_for(Option::is_some).await);
    }
}

impl fmt::Debug for ShutdownHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShutdownHandle").field("begun", &self.is_begun()).finish()
    }
}
