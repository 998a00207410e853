//! Servers and clients of a few lines, and waits with a deadline.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use integration_tests::faults::proxy::Proxy;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

/// Waits for it, but not for ever.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(20), future).await.expect("it takes 20 seconds and more")
}

/// Waits until it is so.
pub(crate) async fn until(mut so: impl FnMut() -> bool) {
    within(async {
        while !so() {
            sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

/// A server whose connections the test holds.
pub(crate) struct Server(TcpListener);

impl Server {
    pub(crate) async fn start() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.local_addr().unwrap()
    }

    pub(crate) async fn accept(&self) -> TcpStream {
        within(self.0.accept()).await.unwrap().0
    }
}

/// A server, a proxy before it, and a connection through both.
pub(crate) struct Through {
    pub(crate) server: Server,
    pub(crate) proxy: Proxy,
    pub(crate) client: TcpStream,
    pub(crate) broker: TcpStream,
}

impl Through {
    pub(crate) async fn start() -> Self {
        let server = Server::start().await;
        let proxy = Proxy::start(server.address()).await.unwrap();
        let client = connect(&proxy).await.unwrap();
        let broker = server.accept().await;
        Self { server, proxy, client, broker }
    }

    /// Another connection.
    pub(crate) async fn another(&self) -> (TcpStream, TcpStream) {
        let client = connect(&self.proxy).await.unwrap();
        (client, self.server.accept().await)
    }
}

pub(crate) async fn connect(proxy: &Proxy) -> io::Result<TcpStream> {
    within(TcpStream::connect(proxy.address())).await
}

/// Passes a few bytes from one to the other.
pub(crate) async fn say(from: &mut TcpStream, to: &mut TcpStream, words: &str) {
    within(from.write_all(words.as_bytes())).await.unwrap();
    assert_eq!(hear(to, words.len()).await, words.as_bytes());
}

/// Reads exactly so many bytes.
pub(crate) async fn hear(from: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut heard = vec![0; length];
    within(from.read_exact(&mut heard)).await.unwrap();
    heard
}

/// Reads to the end: how many bytes, and whether the end was a FIN or a RST.
pub(crate) async fn hear_out(from: &mut TcpStream) -> (u64, io::Result<()>) {
    let mut buffer = vec![0; 64 * 1024];
    let mut heard = 0;
    loop {
        match within(from.read(&mut buffer)).await {
            Ok(0) => return (heard, Ok(())),
            Ok(length) => heard += length as u64,
            Err(error) => return (heard, Err(error)),
        }
    }
}

/// Asserts that the next thing to be read is a FIN.
pub(crate) async fn assert_fin(from: &mut TcpStream) {
    let (heard, end) = hear_out(from).await;
    assert_eq!((heard, end.map_err(|error| error.kind())), (0, Ok(())));
}

/// Asserts that the next thing to be read is a RST.
pub(crate) async fn assert_reset(from: &mut TcpStream) {
    let (heard, end) = hear_out(from).await;
    assert_eq!((heard, end.map_err(|error| error.kind())), (0, Err(io::ErrorKind::ConnectionReset)));
}

/// Asserts that nothing comes for a while. The while proves nothing where bytes are slow; it only must never fail.
pub(crate) async fn assert_silent(from: &mut TcpStream) {
    let mut byte = [0];
    let heard = timeout(Duration::from_millis(200), from.peek(&mut byte)).await;
    assert!(heard.is_err(), "{heard:?}");
}
