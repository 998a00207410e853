//! Handlers that wait until their test lets them go.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use queue::Queue;
use queue_core::Worker;
use tokio::sync::Semaphore;

use super::Stop;
use super::probe::Probe;
use crate::Job;

/// Starts are counted, and each handler waits until its test lets it go.
#[derive(Clone)]
pub(crate) struct Gate {
    starts: Arc<AtomicUsize>,
    open: Arc<Semaphore>,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self { starts: Arc::default(), open: Arc::new(Semaphore::new(0)) }
    }

    pub(crate) fn starts(&self) -> usize {
        self.starts.load(Ordering::SeqCst)
    }

    pub(crate) async fn pass(self) {
        self.starts.fetch_add(1, Ordering::SeqCst);
        // Never closed: an error would let the handler go as well.
        drop(self.open.acquire().await);
    }

    pub(crate) fn release(&self) {
        self.open.add_permits(Semaphore::MAX_PERMITS / 2);
    }
}

/// A queue of one slot whose handler waits at the gate.
pub(crate) fn start<W: Worker<Job = Job>>(worker: W, gate: &Gate) -> Result<Queue<Probe<W>>, Stop> {
    let gate = gate.clone();
    let queue = Queue::with_worker(Probe::new(worker).0).slots(1).start(move |_: Job| gate.clone().pass());
    queue.map_err(|error| Stop::Failed(format!("no start: {error}")))
}
