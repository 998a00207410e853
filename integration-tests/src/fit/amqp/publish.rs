//! What becomes of a publish, and what the client's errors mean.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use lapin::{Confirmation, ErrorKind, PublisherConfirm};
use queue_core::{Event, EventLog, WorkerError};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The deadline of a publish and of its confirmation: an alarm at the broker lets both wait for ever.
pub(super) const CONFIRM: Duration = Duration::from_secs(10);

/// What became of a publish.
#[derive(Debug)]
pub(super) enum Sent {
    Confirmed,
    /// Acknowledged by the broker and given back all the same: no queue took it.
    Unroutable,
    Refused,
    Unknown(WorkerError),
}

impl Sent {
    /// For a copy, which stands for a delivery: whatever is not confirmed leaves the delivery unsettled.
    pub(super) fn confirmed(self, target: &str) -> Result<(), WorkerError> {
        match self {
            Self::Confirmed => Ok(()),
            Self::Unroutable => Err(WorkerError::fatal(format!("queue `{target}` does not exist: declare it"))),
            Self::Refused => Err(WorkerError::retry(format!("queue `{target}` takes nothing: it is full"))),
            Self::Unknown(error) => Err(error),
        }
    }
}

/// Waits for the confirmation.
pub(super) async fn confirmed(confirm: PublisherConfirm) -> Sent {
    match timeout(CONFIRM, confirm).await {
        Ok(Ok(confirmation)) => sent(&confirmation),
        Ok(Err(error)) => Sent::Unknown(failure("confirm", error)),
        Err(_) => Sent::Unknown(WorkerError::retry(format!("the broker did not confirm within {CONFIRM:?}"))),
    }
}

fn sent(confirmation: &Confirmation) -> Sent {
    match confirmation {
        Confirmation::Ack(None) => Sent::Confirmed,
        Confirmation::Ack(Some(_)) => Sent::Unroutable,
        Confirmation::Nack(_) => Sent::Refused,
        Confirmation::NotRequested => Sent::Unknown(WorkerError::fatal("confirms are off on the publishing channel")),
    }
}

/// Follows the alarms of the broker: told only after the first publish, and only to the connection that published.
pub(super) async fn watch_alarms(
    mut alarms: impl Stream<Item = lapin::Event> + Unpin,
    blocked: Arc<AtomicBool>,
    events: EventLog,
    closed: CancellationToken,
) {
    while let Some(Some(event)) = closed.run_until_cancelled(alarms.next()).await {
        let now = match event {
            lapin::Event::ConnectionBlocked(_) => true,
            lapin::Event::ConnectionUnblocked => false,
            _ => continue,
        };
        // Relaxed: a hint, not a promise.
        blocked.store(now, Ordering::Relaxed);
        events.note(Event::Blocked(now));
    }
}

/// What can be done about a client's error.
pub(super) fn failure(doing: &str, error: lapin::Error) -> WorkerError {
    let message = format!("rabbitmq could not {doing}: {error}");
    let class = match error.kind() {
        // 403 access refused, 404 no such queue, 530 not allowed: a person must look.
        ErrorKind::ProtocolError(e) if matches!(e.get_id(), 403 | 404 | 530) => WorkerError::fatal(message),
        ErrorKind::AuthProviderError(_) | ErrorKind::InvalidProtocolVersion(_) => WorkerError::fatal(message),
        _ => WorkerError::reconnect(message),
    };
    class.with_source(error)
}

#[cfg(test)]
mod tests {
    use std::io;

    use lapin::message::{BasicReturnMessage, Delivery};
    use queue_core::ErrorClass;

    use super::*;

    #[test]
    fn an_acknowledged_message_that_came_back_is_unroutable() {
        let delivery = Delivery::mock(0, "".into(), "q".into(), false, Vec::new());
        let returned = BasicReturnMessage { delivery, reply_code: 312, reply_text: "NO_ROUTE".into() };
        assert!(matches!(sent(&Confirmation::Ack(Some(returned))), Sent::Unroutable));
        assert!(matches!(sent(&Confirmation::Ack(None)), Sent::Confirmed));
        assert!(matches!(sent(&Confirmation::Nack(None)), Sent::Refused));
        assert!(matches!(sent(&Confirmation::NotRequested), Sent::Unknown(e) if e.class() == ErrorClass::Fatal));
    }

    #[test]
    fn a_copy_that_is_not_confirmed_is_an_error() {
        assert!(Sent::Confirmed.confirmed("q").is_ok());
        assert_eq!(Sent::Unroutable.confirmed("q").unwrap_err().class(), ErrorClass::Fatal);
        assert_eq!(Sent::Refused.confirmed("q").unwrap_err().class(), ErrorClass::Retry);
    }

    #[test]
    fn errors_fall_into_their_class() {
        use lapin::protocol::{AMQPError, AMQPErrorKind, AMQPSoftError};
        let class = |soft| {
            let error = AMQPError::new(AMQPErrorKind::Soft(soft), "".into());
            failure("test", ErrorKind::ProtocolError(error).into()).class()
        };
        assert_eq!(class(AMQPSoftError::ACCESSREFUSED), ErrorClass::Fatal);
        assert_eq!(class(AMQPSoftError::NOTFOUND), ErrorClass::Fatal);
        assert_eq!(class(AMQPSoftError::PRECONDITIONFAILED), ErrorClass::Reconnect);
        let broken = lapin::Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!(failure("test", broken).class(), ErrorClass::Reconnect);
    }
}
