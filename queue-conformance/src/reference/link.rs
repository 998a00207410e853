//! One connection.

use parking_lot::Mutex;
use tokio::time::Instant;

/// One connection. Its consumers beat for what they hold while it is heard.
#[derive(Debug, Default)]
pub(super) struct Link {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    silent_since: Option<Instant>,
    /// Consumers that use it.
    users: usize,
}

impl Link {
    pub(super) fn join(&self) {
        self.state.lock().users += 1;
    }

    pub(super) fn leave(&self) {
        self.state.lock().users -= 1;
    }

    pub(super) fn is_used(&self) -> bool {
        self.state.lock().users > 0
    }

    pub(super) fn silent_since(&self) -> Option<Instant> {
        self.state.lock().silent_since
    }

    pub(super) fn is_silent(&self) -> bool {
        self.silent_since().is_some()
    }

    pub(super) fn freeze(&self) {
        self.state.lock().silent_since.get_or_insert_with(Instant::now);
    }

    pub(super) fn thaw(&self) {
        self.state.lock().silent_since = None;
    }
}
