//! One message in, one message out, by the raw client of each broker.

mod amqp;
mod kafka;
mod redis;

use std::time::Duration;

use integration_tests::brokers::Kind;
use tokio::time::timeout;

/// The longest for one call here. Kafka's first group on a fresh broker takes 3 s.
const DEADLINE: Duration = Duration::from_secs(30);

/// Makes `queue` where it is not there, and puts `body` on it; returns when the broker has confirmed that.
pub(crate) async fn put(kind: Kind, url: &str, queue: &str, body: &str) {
    let done = async {
        match kind {
            Kind::Redis => redis::put(url, queue, body).await,
            Kind::Amqp => amqp::put(url, queue, body).await,
            Kind::Kafka => kafka::put(url, queue, body).await,
        }
    };
    timeout(DEADLINE, done).await.unwrap();
}

/// Takes the next message of `queue`, acknowledges it, and sees that the broker then has none left. `None` where there is none.
pub(crate) async fn take(kind: Kind, url: &str, queue: &str) -> Option<String> {
    let taken = async {
        match kind {
            Kind::Redis => redis::take(url, queue).await,
            Kind::Amqp => amqp::take(url, queue).await,
            Kind::Kafka => kafka::take(url, queue).await,
        }
    };
    timeout(DEADLINE, taken).await.unwrap()
}
