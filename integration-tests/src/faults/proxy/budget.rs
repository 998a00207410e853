//! How many bytes may still pass before all connections are ended.

use std::io;

use parking_lot::Mutex;

use super::settings::{Direction, Ending};

/// A cut to come.
#[derive(Debug)]
struct Cut {
    left: u64,
    direction: Direction,
    ending: Ending,
}

/// The cut to come, if any. It stays, with nothing left, from its last byte until it is done: meanwhile nothing passes.
#[derive(Debug, Default)]
pub(super) struct Budget(Mutex<Option<Cut>>);

/// What came of an attempt to pass bytes.
#[derive(Debug)]
pub(super) enum Spent {
    /// So many passed, and if there is an ending, they were the last.
    Passed(usize, Option<Ending>),
    /// None may pass.
    Nothing,
    /// The socket refused, or is full.
    Failed(io::Error),
}

impl Budget {
    /// Sets the cut; tells whether it is due at once. Then it has nothing left.
    pub(super) fn set(&self, bytes: u64, direction: Direction, ending: Ending) -> bool {
        *self.0.lock() = Some(Cut { left: bytes, direction, ending });
        bytes == 0
    }

    pub(super) fn clear(&self) {
        *self.0.lock() = None;
    }

    /// Forgets a cut that is done. One that was set since then stays.
    pub(super) fn done(&self) {
        let mut cut = self.0.lock();
        if cut.as_ref().is_some_and(|cut| cut.left == 0) {
            *cut = None;
        }
    }

    /// Lets `write` pass at most so many bytes, and fewer if fewer are left. It must not block: the lock is held, so that the bytes of
    /// two connections are counted exactly.
    pub(super) fn pass(
        &self,
        line: usize,
        at_most: usize,
        gone: impl FnOnce() -> bool,
        write: impl FnOnce(usize) -> io::Result<usize>,
    ) -> Spent {
        let mut cut = self.0.lock();
        // After the lock: a cut tells the connections first and is forgotten then.
        if gone() {
            return Spent::Nothing;
        }
        let Some(cut) = cut.as_mut().filter(|cut| cut.direction.covers(line) || cut.left == 0) else {
            return match write(at_most) {
                Ok(passed) => Spent::Passed(passed, None),
                Err(error) => Spent::Failed(error),
            };
        };
        let allowed = usize::try_from(cut.left).unwrap_or(usize::MAX).min(at_most);
        if allowed == 0 {
            return Spent::Nothing;
        }
        match write(allowed) {
            Ok(passed) => {
                cut.left -= passed as u64;
                Spent::Passed(passed, (cut.left == 0).then_some(cut.ending))
            }
            Err(error) => Spent::Failed(error),
        }
    }
}
