//! The wait for nothing to do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use queue_core::{Durability, Feature, Worker};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::engine::Shared;
use crate::{Queue, Stats};

/// How often whoever waits looks again, whatever it is told: a job may be cancelled, or taken by another process.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Those who wait until nothing is to do.
#[derive(Debug, Default)]
pub(crate) struct Calm {
    /// How many wait. Relaxed: who is missed looks again.
    waiting: AtomicUsize,
    perhaps: Notify,
}

impl Calm {
    /// A slot has found nothing to do.
    pub(crate) fn perhaps(&self) {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.perhaps.notify_waiters();
        }
    }
}

/// One who waits.
struct Waiting<'a>(&'a Calm);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<W: Worker> Queue<W> {
    /// Waits until there is nothing to do: no job is queued, held, running or waiting for its time.
    ///
    /// On a broker that means this process, and the whole queue where its worker [`Inspects`](crate::Inspects): an
    /// inspection that fails is made again, and told by [`health`](Self::health). Jobs that are enqueued meanwhile
    /// are waited for. A queue that is paused with a backlog is not idle.
    ///
    /// ```
    /// # use queue::{Queue, Ring};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let queue = Queue::with_worker(Ring::new()).start(async |to: String| println!("sent to {to}"))?;
    /// queue.enqueue("a@example.org".to_owned()).await?;
    /// queue.idle().await;
    /// assert_eq!(queue.stats().done, 1);
    /// # drop(queue.shutdown(std::time::Duration::ZERO).await?); Ok(()) }
    /// ```
    ///
    /// # Cancel safety
    /// A dropped future loses nothing.
    pub async fn idle(&self) {
        let shared = self.shared();
        shared.calm.waiting.fetch_add(1, Ordering::Relaxed);
        let waiting = Waiting(&shared.calm);
        loop {
            let perhaps = waiting.0.perhaps.notified();
            if is_idle(shared).await {
                return;
            }
            // Told or not: it looks again.
            drop(timeout(LOOK_AGAIN, perhaps).await);
        }
    }
}

async fn is_idle<W: Worker>(shared: &Shared<W>) -> bool {
    let here = || {
        let stats = Stats::read(shared);
        stats.queued + stats.held + stats.running + stats.waiting == 0
    };
    let can = shared.worker().capabilities();
    let inspector = shared.worker().facets().inspector();
    let Some(inspector) = inspector.filter(|_| can.durability != Durability::Process && can.has(Feature::Inspects))
    else {
        return here();
    };
    if !here() {
        return false;
    }
    match inspector.inspect().await {
        // A job may have come here meanwhile.
        Ok(counts) => counts.ready + counts.waiting + counts.unsettled.unwrap_or(0) == 0 && here(),
        Err(error) => {
            shared.monitor.failed(&error, "The queue could not be inspected.");
            false
        }
    }
}
