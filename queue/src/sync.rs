//! What slots and handle meet at: parking_lot's lock and std's atomics, and loom's in a build for the models
//! (`--cfg loom`).
//!
//! What is only counted, and what only the watchdog reads, is std's in both.

#[cfg(not(loom))]
pub(crate) use parking_lot::RwLock;
#[cfg(not(loom))]
pub(crate) use std::sync::OnceLock;
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, fence};
#[cfg(not(loom))]
pub(crate) use tokio::sync::Notify;

#[cfg(loom)]
pub(crate) use self::modelled::{Notify, OnceLock, RwLock};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, fence};

#[cfg(loom)]
mod modelled {
    use std::sync::PoisonError;
    use std::sync::atomic::Ordering;

    use loom::sync::atomic::{AtomicBool, AtomicUsize};
    use loom::sync::{RwLockReadGuard, RwLockWriteGuard};
    use tokio::sync::futures::Notified;

    /// Loom's lock behind the calls of parking_lot's.
    #[derive(Debug, Default)]
    pub(crate) struct RwLock<T>(loom::sync::RwLock<T>);

    impl<T> RwLock<T> {
        pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
            self.0.read().unwrap_or_else(PoisonError::into_inner)
        }

        pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
            self.0.write().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// Std's, and what loom cannot see of it: who finds it set sees what was written before, and may find it unset a while.
    #[derive(Debug)]
    pub(crate) struct OnceLock<T> {
        is_set: AtomicBool,
        inner: std::sync::OnceLock<T>,
    }

    impl<T> Default for OnceLock<T> {
        fn default() -> Self {
            Self { is_set: AtomicBool::new(false), inner: std::sync::OnceLock::new() }
        }
    }

    impl<T> OnceLock<T> {
        pub(crate) fn get(&self) -> Option<&T> {
            if self.is_set.load(Ordering::Acquire) { self.inner.get() } else { None }
        }

        pub(crate) fn get_or_init(&self, init: impl FnOnce() -> T) -> &T {
            let value = self.inner.get_or_init(init);
            self.is_set.swap(true, Ordering::Release);
            value
        }
    }

    /// Tokio's, and what loom cannot see of it: who waits after a notice sees what was written before it.
    #[derive(Debug)]
    pub(crate) struct Notify {
        notices: AtomicUsize,
        inner: tokio::sync::Notify,
    }

    impl Notify {
        pub(crate) fn new() -> Self {
            Self { notices: AtomicUsize::new(0), inner: tokio::sync::Notify::new() }
        }

        pub(crate) fn notify_waiters(&self) {
            self.notices.fetch_add(1, Ordering::Release);
            self.inner.notify_waiters();
        }

        pub(crate) fn notified(&self) -> Notified<'_> {
            // Not a load, which could read an old number.
            self.notices.fetch_add(0, Ordering::Acquire);
            self.inner.notified()
        }
    }
}
