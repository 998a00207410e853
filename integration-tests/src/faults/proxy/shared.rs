//! What a proxy shares with its connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::budget::Budget;
use super::registry::Registry;
use super::settings::{Direction, Ending, Settings};

/// One for each proxy.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) upstream: Mutex<SocketAddr>,
    pub(super) seed: u64,
    pub(super) settings: watch::Sender<Settings>,
    pub(super) budget: Budget,
    pub(super) registry: Arc<Registry>,
    pub(super) tasks: TaskTracker,
    pub(super) closing: CancellationToken,
    passed: [AtomicU64; 2],
}

impl Shared {
    pub(super) fn new(upstream: SocketAddr, seed: u64) -> Self {
        let tasks = TaskTracker::new();
        // Only so that `wait` may return; tasks can be spawned as before.
        tasks.close();
        Self {
            upstream: Mutex::new(upstream),
            seed,
            settings: watch::Sender::default(),
            budget: Budget::default(),
            registry: Arc::default(),
            tasks,
            closing: CancellationToken::new(),
            passed: [const { AtomicU64::new(0) }; 2],
        }
    }

    /// Changes the settings and has every line look at them. Waits for lines that are in the middle of a write.
    pub(super) fn change(&self, with: impl FnOnce(&mut Settings)) {
        self.settings.send_modify(with);
    }

    /// Ends all connections because the last byte of a budget has passed.
    pub(super) fn spent(&self, ending: Ending) {
        drop(self.registry.end_all(ending));
        self.budget.done();
        // Lines of connections that came meanwhile have found nothing left.
        self.change(|_| ());
    }

    pub(super) fn count(&self, line: usize, bytes: usize) {
        // Relaxed: a sum that nothing else depends on.
        self.passed[line].fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn passed(&self, direction: Direction) -> u64 {
        let mut sum = 0;
        direction.each(|line| sum += self.passed[line].load(Ordering::Relaxed));
        sum
    }
}
