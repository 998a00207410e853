//! Redis and Valkey as processes.

use std::ffi::OsString;

use super::plan::{Place, Plan};
use crate::brokers::{BrokerError, Server, install};

/// Durable as a queue needs it: an append-only file, synced each second, and no eviction.
const SETTINGS: [&str; 14] = [
    "--bind",
    "127.0.0.1",
    "--daemonize",
    "no",
    "--appendonly",
    "yes",
    "--appendfsync",
    "everysec",
    "--maxmemory-policy",
    "noeviction",
    "--logfile",
    "",
    "--save",
    "",
];

pub(super) fn plan(server: Server, place: &Place<'_>) -> Result<Plan, BrokerError> {
    let mut command: Vec<OsString> = vec![install::redis(server)?.into()];
    command.extend(SETTINGS.map(OsString::from));
    command.extend(["--port".into(), place.port.to_string().into(), "--dir".into(), place.data.clone().into()]);
    for line in &place.options.lines {
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        command.extend([format!("--{name}").into(), value.into()]);
    }
    Ok(Plan { command, variables: Vec::new(), clean: false, files: Vec::new() })
}
