//! RabbitMQ.

use lapin::options::{
    BasicAckOptions, BasicGetOptions, BasicPublishOptions, ConfirmSelectOptions, QueueDeclareOptions,
};
use lapin::types::FieldTable;
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};

async fn connect(url: &str, queue: &str) -> (Connection, Channel) {
    let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    channel.queue_declare(queue.into(), options, FieldTable::default()).await.unwrap();
    (connection, channel)
}

pub(super) async fn put(url: &str, queue: &str, body: &str) {
    let (connection, channel) = connect(url, queue).await;
    channel.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
    let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
    let durable = BasicProperties::default().with_delivery_mode(2);
    let sent = channel.basic_publish("".into(), queue.into(), options, body.as_bytes(), durable).await.unwrap();
    let confirmed = sent.await.unwrap();
    assert!(confirmed.is_ack() && confirmed.take_message().is_none(), "not confirmed, or not routed");
    connection.close(200, "".into()).await.unwrap();
}

pub(super) async fn take(url: &str, queue: &str) -> Option<String> {
    let (connection, channel) = connect(url, queue).await;
    let got = channel.basic_get(queue.into(), BasicGetOptions::default()).await.unwrap()?;
    got.acker.ack(BasicAckOptions::default()).await.unwrap();
    let none = channel.basic_get(queue.into(), BasicGetOptions::default()).await.unwrap();
    assert!(none.is_none(), "more than one message");
    connection.close(200, "".into()).await.unwrap();
    Some(String::from_utf8(got.data.clone()).unwrap())
}
