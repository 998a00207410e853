//! For tests: a broker, or none where that was asked for, or a failure that says what to do.

use super::{Broker, BrokerError, Options, Private, SKIP, Server, private, say, shared};

/// The [`shared`] broker, or `None` where `QUEUE_TEST_SKIP` leaves it out: then the run has said so, and the test may return.
///
/// # Panics
///
/// When there is no broker; the message says what to do.
pub async fn need(of: impl Into<Server>) -> Option<&'static Broker> {
    shared(of).await.map_or_else(without, Some)
}

/// The same for a [`private`] one.
///
/// # Panics
///
/// As [`need`].
pub async fn need_private(of: impl Into<Server>, options: Options) -> Option<Private> {
    private(of, options).await.map_or_else(|error| without(&error), Some)
}

#[expect(clippy::panic, reason = "a test without its broker fails")]
fn without<T>(error: &BrokerError) -> Option<T> {
    if let BrokerError::Skipped(server) = error {
        say(&format!("SKIPPED: a test of {server}, left out by {SKIP}"));
        return None;
    }
    panic!("{}", error.chain());
}
