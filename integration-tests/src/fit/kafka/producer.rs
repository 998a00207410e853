//! What travels to Kafka, and what its errors mean.

use std::time::Duration;

use bytes::Bytes;
use queue_core::{Refusal, WorkerError};
use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};
use rdkafka::message::{Header, Headers as _, OwnedHeaders};
use rdkafka::producer::{DeliveryFuture, FutureProducer, FutureRecord};

use queue_core::wire::{self, Pairs};

/// The retry topics that are expected to exist, `Q.retry.<name>`. A longer wait takes the last again and again, by its due time.
const CLASSES: [(&str, Duration); 3] =
    [("5s", Duration::from_secs(5)), ("1m", Duration::from_secs(60)), ("10m", Duration::from_secs(600))];

/// The retry topic of a wait.
pub(super) fn retry_topic(queue: &str, after: Duration) -> String {
    let class = wire::class(&CLASSES.map(|(_, wait)| wait), after);
    let name = class.and_then(|class| CLASSES.iter().find(|(_, wait)| *wait == class)).map_or("10m", |(name, _)| name);
    format!("{queue}.retry.{name}")
}

/// The headers of `base`, those in `pairs` overridden.
pub(super) fn headers(base: Option<&OwnedHeaders>, pairs: &Pairs) -> OwnedHeaders {
    let mut made = OwnedHeaders::new();
    for header in base.into_iter().flat_map(|headers| headers.iter()) {
        if !pairs.iter().any(|(name, _)| **name == *header.key) {
            made = made.insert(header);
        }
    }
    for (name, value) in pairs {
        made = made.insert(Header { key: name, value: Some(&value[..]) });
    }
    made
}

/// Sends without waiting; the future is the delivery report.
pub(super) fn send(
    producer: &FutureProducer,
    topic: &str,
    key: Option<&Bytes>,
    body: &[u8],
    headers: OwnedHeaders,
) -> Result<DeliveryFuture, Box<KafkaError>> {
    let mut record = FutureRecord::<[u8], [u8]>::to(topic).payload(body).headers(headers);
    if let Some(key) = key {
        record = record.key(key);
    }
    producer.send_result(record).map_err(|(error, _)| Box::new(error))
}

/// The outcome of a delivery report.
pub(super) async fn reported(report: DeliveryFuture) -> Result<(), Box<KafkaError>> {
    match report.await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err((error, _))) => Err(Box::new(error)),
        Err(_) => Err(Box::new(KafkaError::Canceled)),
    }
}

/// What a failed send means for its job; none where the broker may have it all the same.
pub(super) fn refusal(error: &KafkaError, limit: usize) -> Option<Refusal> {
    Some(match error.rdkafka_error_code()? {
        Code::QueueFull => Refusal::Full,
        Code::UnknownTopic | Code::UnknownTopicOrPartition | Code::UnknownPartition => Refusal::Unroutable,
        Code::MessageSizeTooLarge => Refusal::TooLarge { limit },
        Code::TopicAuthorizationFailed | Code::ClusterAuthorizationFailed => {
            Refusal::Rejected(failure("produce", error.clone()))
        }
        _ => return None,
    })
}

/// What can be done about a client's error.
pub(super) fn failure(doing: &str, error: KafkaError) -> WorkerError {
    let message = format!("kafka could not {doing}: {error}");
    let class = match error.rdkafka_error_code() {
        Some(
            Code::UnknownTopic
            | Code::UnknownTopicOrPartition
            | Code::TopicAuthorizationFailed
            | Code::GroupAuthorizationFailed
            | Code::ClusterAuthorizationFailed
            | Code::SaslAuthenticationFailed
            | Code::Authentication
            | Code::Fatal,
        ) => WorkerError::fatal(message),
        Some(Code::AllBrokersDown | Code::BrokerTransportFailure | Code::Resolve) => WorkerError::reconnect(message),
        _ => WorkerError::retry(message),
    };
    class.with_source(error)
}

#[cfg(test)]
mod tests {
    use queue_core::ErrorClass;

    use super::*;

    #[test]
    fn a_wait_takes_the_class_that_is_not_shorter() {
        assert_eq!(retry_topic("q", Duration::from_millis(5001)), "q.retry.1m");
        assert_eq!(retry_topic("q", Duration::from_secs(5)), "q.retry.5s");
        assert_eq!(retry_topic("q", Duration::from_secs(3600)), "q.retry.10m");
    }

    #[test]
    fn a_copy_overrides_ours_and_keeps_the_rest() {
        let base = OwnedHeaders::new()
            .insert(Header { key: "tenant", value: Some(&[0xff_u8, 0][..]) })
            .insert(Header { key: wire::ATTEMPTS, value: Some("1") })
            .insert(Header { key: "tenant", value: Some("again") });
        let made = headers(Some(&base), &vec![(wire::ATTEMPTS.into(), Bytes::from("2"))]);
        let seen: Vec<_> = made.iter().map(|header| (header.key, header.value.unwrap_or_default())).collect();
        assert_eq!(seen, [("tenant", &[0xff_u8, 0][..]), ("tenant", b"again"), (wire::ATTEMPTS, b"2")]);
    }

    #[test]
    fn a_send_that_may_arrive_is_not_refused() {
        let refused = |code| refusal(&KafkaError::MessageProduction(code), 1);
        assert!(refused(Code::MessageTimedOut).is_none());
        assert!(refusal(&KafkaError::Canceled, 1).is_none());
        assert!(matches!(refused(Code::QueueFull), Some(Refusal::Full)));
        assert!(matches!(refused(Code::UnknownTopic), Some(Refusal::Unroutable)));
        assert!(matches!(refused(Code::MessageSizeTooLarge), Some(Refusal::TooLarge { limit: 1 })));
    }

    #[test]
    fn errors_fall_into_their_class() {
        let class = |code| failure("test", KafkaError::MessageProduction(code)).class();
        assert_eq!(class(Code::SaslAuthenticationFailed), ErrorClass::Fatal);
        assert_eq!(class(Code::AllBrokersDown), ErrorClass::Reconnect);
        assert_eq!(class(Code::MessageTimedOut), ErrorClass::Retry);
    }
}
