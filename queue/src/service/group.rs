//! Many queues under one signal.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use queue_core::{Worker, WorkerError};

use super::{first, stopped};
use crate::{Queue, Stats};

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A queue, whatever its worker is, as far as its end goes.
trait Member: Send + Sync {
    fn stopped(&self) -> Boxed<'_, ()>;
    fn shutdown(&self, time: Duration) -> Boxed<'_, GroupPart>;
}

impl<W: Worker> Member for Queue<W> {
    fn stopped(&self) -> Boxed<'_, ()> {
        Box::pin(stopped(self.shared()))
    }

    fn shutdown(&self, time: Duration) -> Boxed<'_, GroupPart> {
        Box::pin(async move {
            let (report, error) = match Self::shutdown(self, time).await {
                Ok(report) => (report, None),
                Err(error) => (error.report, Some(error.source)),
            };
            let queue = self.shared().home.queue.clone();
            GroupPart { queue, stats: *report.stats(), complete: report.is_complete(), unrun: report.unrun(), error }
        })
    }
}

/// Queues that run, and end, together: one signal, one deadline, one report.
///
/// It holds a handle of each; keep another where you enqueue, or an [`Enqueuer`](crate::Enqueuer).
///
/// ```
/// # use queue::{Group, Queue, Ring};
/// # use std::time::Duration;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let emails = Queue::with_worker(Ring::new()).name("emails").start(async |_: String| ())?;
/// let reports = Queue::with_worker(Ring::new()).name("reports").start(async |_: u64| ())?;
/// let group = Group::new().with(&emails).with(&reports);
/// # async fn a_signal() {}
/// let report = group.run_until(a_signal(), Duration::from_secs(30)).await;
/// assert!(report.is_clean());
/// # Ok(()) }
/// ```
#[derive(Default)]
#[must_use = "a group runs by `run_until` and ends by `shutdown`"]
pub struct Group(Vec<Box<dyn Member>>);

impl Group {
    /// A group without queues.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// With this queue.
    pub fn with<W: Worker>(mut self, queue: &Queue<W>) -> Self {
        self.0.push(Box::new(queue.clone()));
        self
    }

    /// Runs until `signal` is ready, then shuts all queues down within `time`.
    ///
    /// It ends by itself when every queue has stopped: its worker hands out nothing any more, or somebody shut it down.
    ///
    /// # Cancel safety
    /// A dropped future shuts nothing down, unless the signal came before: then the shutdowns go on.
    pub async fn run_until(&self, signal: impl Future, time: Duration) -> GroupReport {
        first(signal, all(self.0.iter().map(|queue| queue.stopped()))).await;
        self.shutdown(time).await
    }

    /// Shuts all queues down, side by side, within `time`: one that does not end keeps no other. It answers by the
    /// deadline plus 1 s.
    ///
    /// # Cancel safety
    /// A dropped future does not stop the shutdowns, if it was polled at all.
    pub async fn shutdown(&self, time: Duration) -> GroupReport {
        GroupReport { parts: all(self.0.iter().map(|queue| queue.shutdown(time))).await }
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("queues", &self.0.len()).finish()
    }
}

/// Waits for all of them, and gives their outputs in order.
async fn all<'a, T: Unpin + Send>(futures: impl Iterator<Item = Boxed<'a, T>>) -> Vec<T> {
    let mut futures: Vec<_> = futures.map(|future| (future, None)).collect();
    let mut done = pin!(poll_fn(|cx| {
        let mut left = false;
        for (future, output) in futures.iter_mut().filter(|(_, output)| output.is_none()) {
            match future.as_mut().poll(cx) {
                Poll::Ready(ready) => *output = Some(ready),
                Poll::Pending => left = true,
            }
        }
        if left { Poll::Pending } else { Poll::Ready(()) }
    }));
    done.as_mut().await;
    futures.into_iter().filter_map(|(_, output)| output).collect()
}

/// What the shutdown of a group has to say.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use = "the report says what was not done"]
pub struct GroupReport {
    /// A part for each queue, in the order in which they joined.
    pub parts: Vec<GroupPart>,
}

impl GroupReport {
    /// Whether every queue ended in time, without an error, and with nothing left.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.parts.iter().all(|part| part.complete && part.error.is_none() && part.unrun == 0)
    }
}

/// What the shutdown of one queue of a group has to say.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GroupPart {
    /// The queue's name.
    pub queue: Arc<str>,
    /// The counts as they were when the call answered.
    pub stats: Stats,
    /// Whether its shutdown is over.
    pub complete: bool,
    /// How many jobs that never ran are there to be taken: from the report of [`Queue::shutdown`], called once more.
    pub unrun: usize,
    /// What its worker said, where it did not end cleanly.
    pub error: Option<WorkerError>,
}
