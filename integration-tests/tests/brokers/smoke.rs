//! One round trip by the raw client on each server, and the version that it claims.
//!
//! Under `QUEUE_TEST_ROAD=container` the same tests go over the containers.

use integration_tests::brokers::{Kind, Server, need, unique};

use crate::raw::{put, take};

/// Puts, takes and acknowledges one message. `least` is the release that the server must have, `below` one that it must not reach.
async fn round_trip(server: Server, least: (u32, u32), below: (u32, u32)) {
    let Some(broker) = need(server).await else { return };
    let (kind, queue) = (server.kind(), unique("smoke"));
    put(kind, broker.url(), &queue, "hello").await;
    assert_eq!(take(kind, broker.url(), &queue).await.as_deref(), Some("hello"));
    let release = broker.release();
    assert!(release >= least && release < below, "{broker}, but it takes one from {least:?} and below {below:?}");
}

#[tokio::test]
async fn redis_takes_and_gives_a_message() {
    round_trip(Kind::Redis.into(), (7, 0), (99, 0)).await;
}

#[tokio::test]
async fn rabbitmq_takes_and_gives_a_message() {
    round_trip(Kind::Amqp.into(), (3, 10), (99, 0)).await;
}

#[tokio::test]
async fn kafka_takes_and_gives_a_message() {
    round_trip(Kind::Kafka.into(), (4, 0), (99, 0)).await;
}

#[tokio::test]
async fn redis_8_takes_and_gives_a_message() {
    round_trip(Server::Redis8, (8, 2), (9, 0)).await;
}

#[tokio::test]
async fn valkey_takes_and_gives_a_message() {
    round_trip(Server::Valkey, (9, 1), (10, 0)).await;
}

#[tokio::test]
async fn rabbitmq_4_takes_and_gives_a_message() {
    round_trip(Server::RabbitMq4, (4, 0), (4, 1)).await;
}
