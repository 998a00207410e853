//! How a queue lives in a program: until a signal, until it is idle, beside other queues.

mod group;
mod idle;

pub use group::{Group, GroupPart, GroupReport};
pub(crate) use idle::Calm;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use queue_core::Worker;

use crate::engine::Shared;
use crate::{Queue, Report, ShutdownError};

impl<W: Worker> Queue<W> {
    /// Runs until `signal` is ready, then shuts down within `time`.
    ///
    /// It ends by itself when the worker hands out nothing any more, or when somebody else shuts the queue down. The
    /// library listens for no signal: say which.
    ///
    /// ```no_run
    /// # use queue::{Queue, Ring};
    /// # use std::time::Duration;
    /// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let queue = Queue::with_worker(Ring::new()).start(async |to: String| println!("sent to {to}"))?;
    /// let report = queue.run_until(tokio::signal::ctrl_c(), Duration::from_secs(30)).await?;
    /// println!("{} jobs were not done", report.unrun());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`shutdown`](Self::shutdown).
    ///
    /// # Cancel safety
    /// A dropped future shuts nothing down, unless the signal came before: then the shutdown goes on.
    pub async fn run_until(
        &self,
        signal: impl Future,
        time: Duration,
    ) -> Result<Report<W::Job>, ShutdownError<W::Job>> {
        first(signal, stopped(self.shared())).await;
        self.shutdown(time).await
    }
}

/// Waits until the queue takes no more jobs: it is shutting down, or its worker is closed.
async fn stopped<W: Worker>(shared: &Shared<W>) {
    let mut deadlines = shared.shutdown.deadlines();
    // The sender lives as long as the queue.
    let begun = async { drop(deadlines.wait_for(Option::is_some).await) };
    first(begun, shared.until(|_| shared.monitor.is_closed())).await;
}

/// Waits for the first of two.
async fn first(one: impl Future, other: impl Future) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|cx| {
        let ready = one.as_mut().poll(cx).is_ready() || other.as_mut().poll(cx).is_ready();
        if ready { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
