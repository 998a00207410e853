//! A real Redis for one test, and raw clients of it.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use integration_tests::brokers::{Kind, Options, Private, need_private};
use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;

/// A server of the test's own, with its data in `folder` where one is given; none where Redis is left out of the run.
pub(crate) async fn start(folder: Option<&Path>) -> Option<Private> {
    let mut options = Options::default();
    options.folder = folder.map(Path::to_owned);
    need_private(Kind::Redis, options).await
}

pub(crate) fn address(redis: &Private) -> SocketAddr {
    redis.address().parse().unwrap()
}

/// A client that gives up on an answer after ten seconds.
pub(crate) async fn connect(address: SocketAddr) -> MultiplexedConnection {
    try_connect(address).await.unwrap()
}

pub(crate) async fn try_connect(address: SocketAddr) -> redis::RedisResult<MultiplexedConnection> {
    let patient = Duration::from_secs(10);
    let config = AsyncConnectionConfig::new().set_connection_timeout(Some(patient)).set_response_timeout(Some(patient));
    let client = redis::Client::open(format!("redis://{address}/"))?;
    client.get_multiplexed_async_connection_with_config(&config).await
}
