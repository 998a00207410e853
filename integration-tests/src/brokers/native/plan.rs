//! What a server is started by, and what its files hold.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{Options, kafka, rabbitmq, redis};
use crate::brokers::{BrokerError, Kind, Server, ports};

/// A command line, environment and files. It is the same at each start of one server.
#[derive(Debug)]
pub(super) struct Plan {
    /// The program and its arguments.
    pub(super) command: Vec<OsString>,
    /// Added to the environment, or all of it where `clean`.
    pub(super) variables: Vec<(&'static str, OsString)>,
    /// Whether it sees nothing of this process's environment.
    pub(super) clean: bool,
    /// Paths below the server's folder, and what is written there before the first start.
    pub(super) files: Vec<(&'static str, String)>,
}

/// Where a server listens and keeps its files, as it sees them.
#[derive(Debug)]
pub(super) struct Place<'a> {
    /// Its own folder.
    pub(super) folder: PathBuf,
    /// Its data folder.
    pub(super) data: PathBuf,
    /// Its port, the one that clients know.
    pub(super) port: u16,
    /// Two more, for what it needs besides.
    pub(super) more: [u16; 2],
    /// What the test asked for.
    pub(super) options: &'a Options,
}

impl Plan {
    /// How `server` is started at `place`.
    pub(super) fn of(server: Server, place: &Place<'_>) -> Result<Self, BrokerError> {
        match server.kind() {
            Kind::Redis => redis::plan(server, place),
            Kind::Amqp => rabbitmq::plan(server, place),
            Kind::Kafka => kafka::plan(place),
        }
    }

    /// Writes the files, and makes the folders that they need.
    pub(super) fn write(&self, folder: &Path) -> Result<(), BrokerError> {
        for (name, content) in &self.files {
            let path = folder.join(name);
            // Erlang wants its cookie to be its owner's only; the rest is nobody's business either.
            let own = || fs::set_permissions(&path, fs::Permissions::from_mode(0o600));
            let made = path
                .parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| fs::write(&path, content))
                .and_then(|()| own());
            made.map_err(|source| BrokerError::Folder { path, source })?;
        }
        Ok(())
    }
}

/// The port that was asked for, or a free one; and two more.
pub(super) fn ports(asked: Option<u16>) -> Result<(u16, [u16; 2]), BrokerError> {
    let Some(port) = asked else {
        let [port, more @ ..] = ports::free::<3>()?;
        return Ok((port, more));
    };
    loop {
        let more = ports::free::<2>()?;
        if !more.contains(&port) {
            return Ok((port, more));
        }
    }
}
