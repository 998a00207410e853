//! Kafka.

use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{CommitMode, Consumer as _, StreamConsumer};
use rdkafka::message::Message as _;
use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka::types::RDKafkaErrorCode;
use tokio::time::timeout;

/// How long an empty topic is listened to. A fresh broker's first group takes 3 s.
const SILENCE: Duration = Duration::from_secs(8);

fn client(url: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", url.trim_start_matches("kafka://"));
    config
}

async fn create(url: &str, topic: &str) {
    let admin: AdminClient<DefaultClientContext> = client(url).create().unwrap();
    let one = NewTopic::new(topic, 1, TopicReplication::Fixed(1));
    for result in admin.create_topics(&[one], &AdminOptions::new()).await.unwrap() {
        assert!(matches!(result, Ok(_) | Err((_, RDKafkaErrorCode::TopicAlreadyExists))), "{result:?}");
    }
}

pub(super) async fn put(url: &str, topic: &str, body: &str) {
    create(url, topic).await;
    let producer: FutureProducer = client(url).set("acks", "all").create().unwrap();
    producer.send(FutureRecord::<(), _>::to(topic).payload(body), Duration::from_secs(20)).await.unwrap();
}

pub(super) async fn take(url: &str, topic: &str) -> Option<String> {
    create(url, topic).await;
    let mut config = client(url);
    config.set("group.id", format!("group-{topic}")).set("auto.offset.reset", "earliest");
    let consumer: StreamConsumer = config.set("enable.auto.commit", "false").create().unwrap();
    consumer.subscribe(&[topic]).unwrap();
    let message = timeout(SILENCE, consumer.recv()).await.ok()?.unwrap();
    consumer.commit_message(&message, CommitMode::Sync).unwrap();
    let committed = consumer.committed(Duration::from_secs(5)).unwrap();
    assert_eq!(committed.elements()[0].offset().to_raw(), Some(message.offset() + 1));
    Some(String::from_utf8(message.payload().unwrap().to_vec()).unwrap())
}
