//! A client of HTTP/1.1 that keeps its connection, and knows no more than these tests need.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::program::in_time;

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// One connection.
pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    /// None: nobody listens.
    pub(crate) async fn connect(address: &str) -> Option<Self> {
        let stream = in_time(TcpStream::connect(address)).await.ok()?;
        stream.set_nodelay(true).ok()?;
        Some(Self(BufReader::new(stream)))
    }

    pub(crate) async fn post(&mut self, path: &str, body: &str) -> Option<Answer> {
        let length = body.len();
        let head = format!("POST {path} HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n");
        self.ask(format!("{head}content-length: {length}\r\n\r\n{body}")).await
    }

    pub(crate) async fn get(&mut self, path: &str) -> Option<Answer> {
        self.ask(format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n")).await
    }

    /// None: the connection ended before the whole answer came, and nobody knows what became of the request.
    async fn ask(&mut self, request: String) -> Option<Answer> {
        in_time(async {
            self.0.write_all(request.as_bytes()).await.ok()?;
            let status = self.line().await?;
            let status = status.split(' ').nth(1).unwrap().parse().unwrap();
            let mut length = 0;
            loop {
                let line = self.line().await?.to_ascii_lowercase();
                if line.is_empty() {
                    break;
                }
                if let Some(bytes) = line.strip_prefix("content-length: ") {
                    length = bytes.parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            self.0.read_exact(&mut body).await.ok()?;
            Some(Answer { status, body: String::from_utf8(body).unwrap() })
        })
        .await
    }

    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let bytes = self.0.read_line(&mut line).await.ok()?;
        (bytes > 0).then(|| line.trim_end().to_owned())
    }
}
