//! A server in a container of a Docker engine, by testcontainers.
//!
//! Its calls block and its drop wants no runtime around it, so both have a thread. A container that outlives its process is removed by that
//! process's watcher, through the program `docker`; where there is none, by [`sweep`], at the next start of a container or by
//! `cargo xtask brokers down`.

mod engine;
mod labels;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use testcontainers::core::IntoContainerPort as _;
use testcontainers::runners::SyncRunner as _;
use testcontainers::{Container as Running, ContainerRequest, GenericImage, ImageExt as _};

use self::engine::Engine;
pub use self::labels::sweep;
use super::probe::{self, Address};
use super::watcher::Watcher;
use super::{BrokerError, Deadline, Kind, Server, ports, unique};

/// Whether the engine has the server's image; not of one that has none.
///
/// # Errors
///
/// [`BrokerError::Engine`] where none answers.
pub(super) fn has_image(server: Server) -> Result<bool, BrokerError> {
    let Some((name, tag)) = server.image() else { return Ok(false) };
    match Engine::find()?.must_have(name, tag) {
        Err(BrokerError::NoImage { .. }) => Ok(false),
        answer => answer.map(|()| true),
    }
}

/// The longest until a container is created and started, and until it is removed.
const CALL: Duration = Duration::from_secs(60);
/// The longest until its server answers. RabbitMQ takes 7 s, and several times that on a busy machine.
const START: Duration = Duration::from_secs(90);
/// The longest that one question is waited for.
const QUESTION: Duration = Duration::from_secs(2);

/// A container whose server answers. Removed when this is dropped.
#[derive(Debug)]
pub(super) struct Container {
    server: Server,
    port: u16,
    version: String,
    running: Option<Running<GenericImage>>,
    /// Last: it removes the container once more, in case the drop of the other has failed.
    _watcher: Watcher,
}

impl Container {
    /// Starts the server's image on a free loopback port and waits until it answers. The engine has two seconds to show that it is one.
    pub(super) fn start(server: Server) -> Result<Self, BrokerError> {
        let engine = Engine::find()?;
        let Some((name, tag)) = server.image() else {
            let why = "there is no image of it; it runs as a process only".into();
            return Err(BrokerError::Container { server, why });
        };
        engine.must_have(name, tag)?;
        sweep();
        let [port] = ports::free::<1>()?;
        let container = unique("queue-test");
        let watcher = Watcher::start(&Watcher::temporary(), None, &container)?;
        let request = request(server, name, tag, port).with_container_name(&container);
        let running = on_thread(move || request.start().map_err(|error| error.to_string()))
            .ok_or_else(|| late(server, "the start", CALL, String::new()))?;
        let running = running.map_err(|error| BrokerError::Container { server, why: error.into() })?;
        // The watcher looks for it: without, the container may still be on its way when its owner is killed.
        let marker = watcher.folder().join("started");
        File::create(&marker).map_err(|source| BrokerError::Folder { path: marker, source })?;
        let mut started = Self { server, port, version: String::new(), running: Some(running), _watcher: watcher };
        started.version = started.ready(engine, &container)?;
        Ok(started)
    }

    pub(super) fn url(&self) -> String {
        format!("{}://127.0.0.1:{}", self.server.kind().scheme(), self.port)
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// The engine's proxy accepts connections before the server does, so the server is asked in its protocol.
    fn ready(&self, engine: &Engine, name: &str) -> Result<String, BrokerError> {
        let (server, at) = (self.server, Address::local(self.port));
        let mut last = String::new();
        let answer = Deadline::after(START).until(|| {
            let error = match probe::ask(server.kind(), &at, Deadline::after(QUESTION)) {
                Ok(version) => return Some(Ok(version)),
                Err(error) => error,
            };
            last = error.to_string();
            (!engine.runs(name)).then(|| Err(BrokerError::Ended { server, said: engine.last_words(name).into() }))
        });
        answer.unwrap_or_else(|| Err(late(server, "an answer", START, last)))
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        if on_thread(move || drop(running)).is_none() {
            super::say(&format!("the container of {} was not removed within {CALL:?}", self.server));
        }
    }
}

fn late(server: Server, what: &str, after: Duration, last: String) -> BrokerError {
    BrokerError::Late { what: format!("{what} of a container of {server}").into(), after, last: last.into() }
}

fn request(server: Server, name: &str, tag: &str, port: u16) -> ContainerRequest<GenericImage> {
    let inside = server.kind().default_port().tcp();
    // A mapped port: a free one of the engine's choice would be another after each restart.
    let request = GenericImage::new(name, tag).with_exposed_port(inside).with_mapped_port(port, inside);
    let request = request.with_labels(labels::of_this_process()).with_startup_timeout(CALL);
    if server.kind() == Kind::Kafka {
        return request.with_env_var("KAFKA_ADVERTISED", format!("127.0.0.1:{port}"));
    }
    request
}

/// What `work` gives, or `None` where it takes longer than [`CALL`]: it goes on then, and what it makes is dropped.
fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (done, result) = mpsc::channel();
    thread::spawn(move || drop(done.send(work())));
    result.recv_timeout(CALL).ok()
}
