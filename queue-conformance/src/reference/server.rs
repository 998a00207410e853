//! What all connections share: queues, links, and what is wrong with the broker at the moment.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::line::Line;
use super::link::Link;
use crate::broken::Defect;

/// How long a delivery stays its consumer's without a sign of life.
pub(super) const LEASE: Duration = Duration::from_secs(10);
/// How long a publish waits for its confirmation.
pub(super) const CONFIRM_WITHIN: Duration = Duration::from_secs(5);
/// The largest body, in bytes.
pub(super) const MAX_BODY: usize = 2 << 20;
/// The longest name of a queue, in bytes.
pub(super) const MAX_NAME: usize = 255;

/// What is wrong with the broker at the moment.
#[derive(Debug, Default)]
pub(super) struct Weather {
    /// So many publishes are refused.
    pub(super) refuse: usize,
    /// So many confirmations get lost.
    pub(super) lose_confirms: usize,
    /// So many settles fail on their way.
    pub(super) fail_settles: usize,
    /// Nothing is stored.
    pub(super) full: bool,
    /// The broker is away.
    pub(super) away: bool,
}

impl Weather {
    /// Takes one of a number of faults.
    pub(super) const fn spend(left: &mut usize) -> bool {
        let hit = *left > 0;
        if hit {
            *left -= 1;
        }
        hit
    }
}

/// The broker.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) defect: Option<Defect>,
    pub(super) weather: Mutex<Weather>,
    lines: Mutex<HashMap<String, Arc<Line>>>,
    links: Mutex<Vec<Arc<Link>>>,
    /// Told whenever something has changed that a waiting call cares about.
    pub(super) changed: Notify,
}

impl Server {
    pub(super) fn new(defect: Option<Defect>) -> Self {
        Self {
            defect,
            weather: Mutex::default(),
            lines: Mutex::default(),
            links: Mutex::default(),
            changed: Notify::new(),
        }
    }

    /// Whether it is told to break this promise.
    pub(super) fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    /// The queue of this name, made where it is not there.
    pub(super) fn line(&self, name: &str) -> Arc<Line> {
        let mut name = name.to_owned();
        if self.has(Defect::FoldsNames) {
            name = name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        }
        self.lines.lock().entry(name).or_default().clone()
    }

    pub(super) fn delete(&self, name: &str) {
        if let Some(line) = self.lines.lock().remove(name) {
            line.delete();
        }
    }

    pub(super) fn open_link(&self) -> Arc<Link> {
        let link = Arc::<Link>::default();
        self.links.lock().push(link.clone());
        link
    }

    pub(super) fn links(&self) -> Vec<Arc<Link>> {
        self.links.lock().clone()
    }

    /// Every connection is cut: what its consumers hold is nobody's.
    pub(super) fn cut(&self, restart: bool) {
        for line in self.lines.lock().values() {
            line.cut(self, restart);
        }
        self.changed.notify_waiters();
    }

    /// Waits until `ready`, looking again at each change.
    pub(super) async fn wait_until(&self, ready: impl Fn() -> bool) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if ready() {
                return;
            }
            changed.await;
        }
    }
}
