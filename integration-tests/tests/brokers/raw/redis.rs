//! Redis Streams.

use redis::aio::MultiplexedConnection;
use redis::streams::{StreamReadOptions, StreamReadReply};
use redis::{AsyncCommands as _, Client, RedisResult};

async fn connect(url: &str) -> MultiplexedConnection {
    Client::open(url).unwrap().get_multiplexed_async_connection().await.unwrap()
}

pub(super) async fn put(url: &str, queue: &str, body: &str) {
    let id: String = connect(url).await.xadd(queue, "*", &[("body", body)]).await.unwrap();
    assert!(!id.is_empty());
}

pub(super) async fn take(url: &str, queue: &str) -> Option<String> {
    let mut connection = connect(url).await;
    // It exists where another test has taken from it.
    let group: RedisResult<()> = connection.xgroup_create_mkstream(queue, "group", "0").await;
    assert!(group.is_ok() || group.as_ref().is_err_and(|error| error.code() == Some("BUSYGROUP")), "{group:?}");
    let options = StreamReadOptions::default().group("group", "consumer").count(1);
    let reply: Option<StreamReadReply> = connection.xread_options(&[queue], &[">"], &options).await.unwrap();
    let entry = reply?.keys.into_iter().next()?.ids.into_iter().next()?;
    let body = entry.get("body").unwrap();
    let acknowledged: usize = connection.xack(queue, "group", &[&entry.id]).await.unwrap();
    assert_eq!(acknowledged, 1);
    Some(body)
}
