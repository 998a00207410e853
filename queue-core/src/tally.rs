//! What a worker counted.

/// What this process put into a worker, and what the worker holds of that in this process: one reading, taken at once.
///
/// On a worker whose jobs die with the process the engine's identity rests on it: accepted = queued + waiting + cancelled + what the engine has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Jobs accepted from this process, since the worker was made.
    pub accepted: u64,
    /// Jobs that could start now, where the worker holds them itself.
    pub queued: u64,
    /// Jobs that wait for their time (delay, retry, return), where the worker holds them itself.
    pub waiting: u64,
    /// Jobs cancelled by id.
    pub cancelled: u64,
    /// Jobs handed over at shutdown.
    pub handed_over: u64,
}
