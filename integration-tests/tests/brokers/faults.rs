//! A private server, broken in each way that a test can break it.

use std::time::Duration;

use integration_tests::brokers::probe::{Address, ask};
use integration_tests::brokers::{BrokerError, Deadline, Kind, Options, Private, need_private, unique};

use crate::raw::{put, take};

/// Whether it answers within a second.
async fn answers(broker: &Private) -> bool {
    let (kind, at) = (broker.server().kind(), Address::local(broker.port()));
    let asked = tokio::task::spawn_blocking(move || ask(kind, &at, Deadline::after(Duration::from_secs(1))).is_ok());
    asked.await.unwrap()
}

/// Each fault once, then its end while it is frozen.
async fn breaks_and_comes_back(kind: Kind) {
    let Some(broker) = need_private(kind, Options::default()).await else { return };
    crashes(&broker).await;
    freezes(&broker).await;
    forgets(&broker).await;
    let folder = broker.folder().to_owned();
    broker.freeze().await.unwrap();
    drop(broker);
    assert!(!folder.exists(), "the folder of a frozen server is left");
}

/// SIGKILL takes no message: what the kernel has of a file stays.
async fn crashes(broker: &Private) {
    let (first, kind, queue) = (broker.pid(), broker.server().kind(), unique("kept"));
    put(kind, broker.url(), &queue, "before the crash").await;
    broker.kill().await.unwrap();
    assert_eq!((broker.pid(), answers(broker).await), (None, false));
    assert!(is(&broker.kill().await, "down"));
    broker.start().await.unwrap();
    assert_ne!(broker.pid(), first);
    assert!(is(&broker.start().await, "running"));
    assert_eq!(take(kind, broker.url(), &queue).await.as_deref(), Some("before the crash"));
}

async fn freezes(broker: &Private) {
    broker.freeze().await.unwrap();
    assert!(!answers(broker).await, "a frozen server answers");
    broker.thaw().await.unwrap();
    assert!(answers(broker).await);
}

async fn forgets(broker: &Private) {
    let (kind, queue) = (broker.server().kind(), unique("lost"));
    put(kind, broker.url(), &queue, "before the end").await;
    assert!(is(&broker.wipe().await, "running"));
    broker.stop().await.unwrap();
    broker.wipe().await.unwrap();
    broker.start().await.unwrap();
    assert_eq!(take(kind, broker.url(), &queue).await, None, "its data were taken away");
}

/// Whether a call was refused since the server is in that state.
fn is(call: &Result<(), BrokerError>, state: &str) -> bool {
    matches!(call, Err(BrokerError::State { is, .. }) if *is == state)
}

#[tokio::test]
async fn redis_breaks_and_comes_back() {
    breaks_and_comes_back(Kind::Redis).await;
}

#[tokio::test]
async fn rabbitmq_breaks_and_comes_back() {
    breaks_and_comes_back(Kind::Amqp).await;
}

#[tokio::test]
async fn kafka_breaks_and_comes_back() {
    breaks_and_comes_back(Kind::Kafka).await;
}
