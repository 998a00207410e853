//! Why there is no broker, and the way out.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::{Kind, Road, Server};

/// A test has no broker, or could not do to one what it wanted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrokerError {
    /// `QUEUE_TEST_SKIP` leaves it out. No other error means that a test may pass without its broker.
    #[error("{0} is left out by QUEUE_TEST_SKIP")]
    Skipped(Server),
    /// A variable of the environment has a value that means nothing.
    #[error("{variable} is `{value}`, but takes {takes}")]
    Setting {
        /// Its name.
        variable: &'static str,
        /// What it holds.
        value: Box<str>,
        /// What it could hold.
        takes: &'static str,
    },
    /// The broker whose URL was given does not answer.
    #[error("the {kind} at {address}, given by {}, does not answer: {why}; start it, or unset the variable", .kind.variable())]
    Given {
        /// Of which kind.
        kind: Kind,
        /// Where, without user and password.
        address: Box<str>,
        /// What happened instead.
        why: Box<str>,
    },
    /// No road leads to the server. Each was tried.
    #[error("no road leads to {server}: {tried}")]
    NoRoad {
        /// Which server.
        server: Server,
        /// Each road, why it is closed, and what opens it.
        tried: Box<str>,
    },
    /// The only road that `QUEUE_TEST_ROAD` leaves is closed.
    #[error("QUEUE_TEST_ROAD={road} leaves one road to {server}, and it is closed")]
    Forced {
        /// Which server.
        server: Server,
        /// Which road.
        road: Road,
        /// Why.
        source: Box<Self>,
    },
    /// Its program, or what it needs, is not on this machine.
    #[error("{server} needs {lacks}, which is not on this machine; {way_out}")]
    NotInstalled {
        /// Which server.
        server: Server,
        /// What is missing.
        lacks: Box<str>,
        /// What to do.
        way_out: Box<str>,
    },
    /// A tool of the tests is not on this machine.
    #[error("{tool} needs {lacks}, which is not on this machine; {way_out}")]
    ToolNotInstalled {
        /// Which tool.
        tool: &'static str,
        /// What is missing.
        lacks: Box<str>,
        /// What to do.
        way_out: &'static str,
    },
    /// Another program listens on the port.
    #[error(
        "port {port}, asked for by a test with its own {server}, is in use; ask for another, or for none to get a free one"
    )]
    PortInUse {
        /// Which server.
        server: Server,
        /// Which port.
        port: u16,
    },
    /// No free port was found.
    #[error(
        "no {0} free loopback ports were found in 200 attempts; end programs that listen on ports from 20000 to 31999"
    )]
    NoPort(usize),
    /// A folder or file cannot be written.
    #[error("`{}` cannot be written; give a folder that exists and is yours, or set TMPDIR to one", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A program could not be started.
    #[error("`{program}` could not be started; see that it is in PATH and may be executed")]
    Program {
        /// Which.
        program: Box<str>,
        /// Why not.
        source: io::Error,
    },
    /// A program ended badly.
    #[error("`{command}` ended with {status}: {said}")]
    Command {
        /// As it was called.
        command: Box<str>,
        /// Its exit code or signal.
        status: std::process::ExitStatus,
        /// The last that it wrote.
        said: Box<str>,
    },
    /// A server ended instead of answering.
    #[error("{server} ended before it answered; the last that it wrote: {said}")]
    Ended {
        /// Which server.
        server: Server,
        /// The end of its log.
        said: Box<str>,
    },
    /// Something did not happen in time.
    #[error("{what} was not there after {after:?}: {last}")]
    Late {
        /// What was waited for.
        what: Box<str>,
        /// The deadline.
        after: Duration,
        /// What was there instead.
        last: Box<str>,
    },
    /// A server is not in the state that a call needs.
    #[error("{server} is {is}; {way_out}")]
    State {
        /// Which server.
        server: Server,
        /// What it is.
        is: &'static str,
        /// What to do.
        way_out: &'static str,
    },
    /// The system refused a signal.
    #[error("process {pid} cannot be signalled; run the test as the user of the process")]
    Signal {
        /// Whose.
        pid: u32,
        /// Why not.
        source: io::Error,
    },
    /// There is no Docker engine that can be used.
    #[error("no Docker engine at {host}: {why}; start one, or point DOCKER_HOST to one")]
    Engine {
        /// Where it was looked for.
        host: Box<str>,
        /// What happened.
        why: Box<str>,
    },
    /// The engine has no such image.
    #[error("the Docker engine has no image {image}; `cargo xtask brokers images` builds it")]
    NoImage {
        /// Name and tag.
        image: Box<str>,
    },
    /// The engine refused or broke off.
    #[error("a container of {server} could not be run: {why}")]
    Container {
        /// Which server.
        server: Server,
        /// What the engine said.
        why: Box<str>,
    },
}

impl BrokerError {
    /// Itself and its sources in one line, as a run says it.
    #[must_use]
    pub fn chain(&self) -> String {
        let mut line = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(error) = source {
            line.push_str(": ");
            line.push_str(&error.to_string());
            source = error.source();
        }
        line
    }
}
