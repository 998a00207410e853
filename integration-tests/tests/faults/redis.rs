//! A real redis-server for one test.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use tempfile::TempDir;
use tokio::time::sleep;

use crate::wire::within;

/// A server on a port of its own, killed with it.
pub(crate) struct Redis {
    server: Child,
    port: u16,
    _dir: TempDir,
}

impl Redis {
    pub(crate) async fn start() -> Self {
        let dir = TempDir::new().unwrap();
        let at = dir.path().to_path_buf();
        Self::start_in(dir, &at, &[]).await
    }

    /// With its files in `at`, which is there as long as `dir`.
    pub(crate) async fn start_in(dir: TempDir, at: &Path, options: &[&str]) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--save", "", "--port", &port.to_string(), "--dir"])
            .arg(at)
            .args(options)
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is missing: apt-get install redis-server");
        let redis = Self { server, port, _dir: dir };
        within(async {
            while try_connect(redis.address()).await.is_err() {
                sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        redis
    }

    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.server.kill().and_then(|()| self.server.wait()).unwrap();
    }
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
