//! A Docker engine: whether there is one, and a few questions to it.
//!
//! It is asked on a thread, so that neither a full queue of connections nor silence costs more than the deadline.

use std::env;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::brokers::BrokerError;

/// The longest that an engine may be silent before it counts as none.
const DEADLINE: Duration = Duration::from_secs(2);

/// Where an engine listens.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Unix(PathBuf),
    Tcp(String),
}

/// An engine that has answered.
#[derive(Debug)]
pub(super) struct Engine {
    host: Host,
}

impl Engine {
    /// That of `DOCKER_HOST`, else the one at the usual sockets. Looked for once a process: a hanging one costs its two seconds once.
    pub(super) fn find() -> Result<&'static Self, BrokerError> {
        static FOUND: OnceLock<Result<Engine, (String, String)>> = OnceLock::new();
        let found = FOUND.get_or_init(|| Self::look(env::var("DOCKER_HOST").ok().as_deref()));
        found
            .as_ref()
            .map_err(|(host, why)| BrokerError::Engine { host: host.as_str().into(), why: why.as_str().into() })
    }

    /// As [`find`](Self::find), or where and why there is none.
    pub(super) fn look(given: Option<&str>) -> Result<Self, (String, String)> {
        let (shown, host) = match given {
            Some(host) => (host.to_owned(), Self::host(host)),
            None => usual(),
        };
        let Some(host) = host else {
            return Err((shown, "its address is none that is understood: unix:///PATH or tcp://HOST:PORT".to_owned()));
        };
        let engine = Self { host };
        match engine.ask("GET", "/_ping") {
            Ok((200, _)) => Ok(engine),
            Ok((status, _)) => Err((shown, format!("it answers {status} to a ping"))),
            Err(error) => Err((shown, error.to_string())),
        }
    }

    fn host(given: &str) -> Option<Host> {
        let (scheme, rest) = given.split_once("://")?;
        match scheme {
            "unix" => Some(Host::Unix(rest.into())),
            "tcp" | "http" => Some(Host::Tcp(rest.trim_end_matches('/').to_owned())),
            _ => None,
        }
    }

    /// # Errors
    ///
    /// [`BrokerError::NoImage`] where the engine has not got the image: it is built here, no registry has it.
    pub(super) fn must_have(&self, name: &str, tag: &str) -> Result<(), BrokerError> {
        match self.ask("GET", &format!("/images/{name}:{tag}/json")) {
            Ok((200, _)) => Ok(()),
            Ok(_) => Err(BrokerError::NoImage { image: format!("{name}:{tag}").into() }),
            Err(error) => Err(BrokerError::Engine { host: self.shown().into(), why: error.to_string().into() }),
        }
    }

    /// Whether a container runs. One that cannot be asked about is taken to.
    pub(super) fn runs(&self, container: &str) -> bool {
        let Ok((200, body)) = self.ask("GET", &format!("/containers/{container}/json")) else { return true };
        let state: Value = serde_json::from_slice(&body).unwrap_or_default();
        state.pointer("/State/Running") != Some(&Value::Bool(false))
    }

    /// The end of what a container wrote.
    pub(super) fn last_words(&self, container: &str) -> String {
        let path = format!("/containers/{container}/logs?stdout=1&stderr=1&tail=20");
        let (_, body) = self.ask("GET", &path).unwrap_or_default();
        // Each line has a head of eight bytes, none of which is a letter.
        let text = String::from_utf8_lossy(&body).into_owned();
        text.chars().filter(|c| *c == '\n' || !c.is_control() && *c != '\u{fffd}').collect::<String>().trim().to_owned()
    }

    fn shown(&self) -> String {
        match &self.host {
            Host::Unix(path) => format!("unix://{}", path.display()),
            Host::Tcp(address) => format!("tcp://{address}"),
        }
    }

    /// Status and body of an answer to a request without a body.
    pub(super) fn ask(&self, method: &str, path: &str) -> io::Result<(u16, Vec<u8>)> {
        // 1.0: the answer ends with the connection, and comes in one piece.
        let request = format!("{method} {path} HTTP/1.0\r\nHost: docker\r\n\r\n");
        let (done, answer) = mpsc::channel();
        let host = self.host.clone();
        thread::spawn(move || {
            let answer = match host {
                Host::Unix(path) => UnixStream::connect(path).and_then(|stream| exchange(stream, &request)),
                Host::Tcp(address) => TcpStream::connect(address).and_then(|stream| exchange(stream, &request)),
            };
            drop(done.send(answer));
        });
        let silent = || io::Error::new(io::ErrorKind::TimedOut, format!("it has not answered within {DEADLINE:?}"));
        parsed(&answer.recv_timeout(DEADLINE).map_err(|_| silent())??)
    }
}

fn exchange(mut stream: impl Read + Write, request: &str) -> io::Result<Vec<u8>> {
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer)
}

fn parsed(answer: &[u8]) -> io::Result<(u16, Vec<u8>)> {
    let strange = || io::Error::new(io::ErrorKind::InvalidData, "it does not speak HTTP");
    let head = answer.windows(4).position(|window| window == b"\r\n\r\n").ok_or_else(strange)?;
    let (head, body) = answer.split_at_checked(head + 4).ok_or_else(strange)?;
    let status = String::from_utf8_lossy(head).split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok((status.ok_or_else(strange)?, body.to_vec()))
}

/// The first socket that exists of those at which engines listen, with its URL.
fn usual() -> (String, Option<Host>) {
    let below = |variable, path: &str| Some(PathBuf::from(env::var_os(variable)?).join(path));
    let sockets = [
        Some(PathBuf::from("/var/run/docker.sock")),
        below("XDG_RUNTIME_DIR", "docker.sock"),
        below("HOME", ".docker/run/docker.sock"),
        below("HOME", ".docker/desktop/docker.sock"),
    ];
    let first = sockets.into_iter().flatten().find(|path| path.exists());
    let path = first.unwrap_or_else(|| PathBuf::from("/var/run/docker.sock"));
    (format!("unix://{}", path.display()), Some(Host::Unix(path)))
}
