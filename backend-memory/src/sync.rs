//! The ring's lock: parking_lot's, and loom's in a build for the models (`--cfg loom`).

#[cfg(not(loom))]
pub(crate) use parking_lot::{Mutex, MutexGuard};

#[cfg(loom)]
pub(crate) use self::modelled::{Mutex, MutexGuard};

#[cfg(loom)]
mod modelled {
    pub(crate) use loom::sync::MutexGuard;

    /// Loom's lock behind the calls of parking_lot's.
    #[derive(Debug)]
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
        }
    }
}
