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

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;
    use std::task::{Wake, Waker};
    use std::time::Duration;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn each_loss_is_told_and_the_first_stays() {
        for (first, second) in [
            (Loss::LeaseExpired, Loss::Revoked),
            (Loss::Disconnected, Loss::LeaseExpired),
            (Loss::Revoked, Loss::Disconnected),
        ] {
            let ours = Ownership::new();
            let engines = ours.clone();
            assert_eq!(engines.lost(), None);
            ours.lose(first);
            ours.lose(second);
            assert_eq!((engines.lost(), ours.lost()), (Some(first), Some(first)));
        }
    }

    #[test]
    fn only_the_first_loss_wakes_whoever_polls() {
        let (ours, count) = (Ownership::new(), Arc::new(Count::default()));
        let waker = Waker::from(Arc::clone(&count));
        let mut cx = Context::from_waker(&waker);
        assert_eq!(ours.poll_lost(&mut cx), Poll::Pending);
        assert_eq!(count.0.load(Ordering::SeqCst), 0);
        ours.lose(Loss::Revoked);
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
        assert_eq!(ours.poll_lost(&mut cx), Poll::Ready(Loss::Revoked));
        ours.lose(Loss::Disconnected);
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_loss_on_another_thread_ends_the_wait() {
        for _ in 0..200 {
            let ours = Ownership::new();
            let engines = ours.clone();
            let thread = std::thread::spawn(move || ours.lose(Loss::Disconnected));
            let lost = poll_fn(|cx| engines.poll_lost(cx));
            let late = tokio::time::sleep(Duration::from_secs(10));
            // A timeout would look once more before it gives up, and so hide a wake that never came.
            tokio::select! {
                biased;
                () = late => panic!("nobody was woken"),
                loss = lost => assert_eq!(loss, Loss::Disconnected),
            }
            thread.join().unwrap();
        }
    }
}
