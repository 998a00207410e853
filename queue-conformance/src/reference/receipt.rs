//! What the reference knows a delivery by.

use std::sync::Arc;

use queue_core::{Ownership, Receipt};
use tokio::time::Instant;

use super::line::Line;

/// The claim of one consumer on one delivery. Dropped unsettled it is given up: its lease runs out.
#[derive(Debug)]
pub struct Claim {
    pub(super) tag: u64,
    pub(super) fence: u64,
    pub(super) ownership: Ownership,
    pub(super) line: Arc<Line>,
    /// Its drop gives nothing up.
    pub(super) kept: bool,
}

impl Receipt for Claim {
    fn ownership(&self) -> Option<&Ownership> {
        Some(&self.ownership)
    }

    fn fence(&self) -> Option<u64> {
        Some(self.fence)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.kept {
            self.line.give_up(self.tag, Instant::now());
        }
    }
}
