//! Whether a delivery is still ours.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use atomic_waker::AtomicWaker;

/// Why a delivery is no longer ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// The lease ran out, or another consumer process took the job over.
    LeaseExpired,
    /// The connection or channel that it came from is gone.
    Disconnected,
    /// The partition was given to another consumer process.
    Revoked,
}

/// A token that a backend shares with the engine: it can be lost once, with a reason.
///
/// The backend keeps one end and calls [`lose`](Self::lose); the engine polls the other while the handler runs,
/// cancels it on a loss and discards its result. Clones are the same token. One task polls it.
///
/// ```
/// use queue_core::{Loss, Ownership};
/// let ours = Ownership::new();
/// let engines = ours.clone();
/// assert_eq!(engines.lost(), None);
/// ours.lose(Loss::LeaseExpired);
/// assert_eq!(engines.lost(), Some(Loss::LeaseExpired));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Ownership(Arc<Token>);

#[derive(Debug, Default)]
struct Token {
    /// 0 while owned, else the loss. Release on the loss, acquire on the look: the loser's settle sees what went before.
    loss: AtomicU8,
    waker: AtomicWaker,
}

impl Ownership {
    /// A token that is owned.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The delivery is no longer ours. The first reason stays.
    pub fn lose(&self, why: Loss) {
        let code = match why {
            Loss::LeaseExpired => 1,
            Loss::Disconnected => 2,
            Loss::Revoked => 3,
        };
        if self.0.loss.compare_exchange(0, code, Ordering::Release, Ordering::Relaxed).is_ok() {
            self.0.waker.wake();
        }
    }

    /// Why it was lost, if it was.
    #[must_use]
    pub fn lost(&self) -> Option<Loss> {
        match self.0.loss.load(Ordering::Acquire) {
            0 => None,
            1 => Some(Loss::LeaseExpired),
            2 => Some(Loss::Disconnected),
            _ => Some(Loss::Revoked),
        }
    }

    /// Ready with the reason once it is lost; else wakes the task of `cx` then.
    pub fn poll_lost(&self, cx: &mut Context<'_>) -> Poll<Loss> {
        if let Some(loss) = self.lost() {
            return Poll::Ready(loss);
        }
        self.0.waker.register(cx.waker());
        // A loss between the look and the registration would wake nobody.
        self.lost().map_or(Poll::Pending, Poll::Ready)
    }
}
