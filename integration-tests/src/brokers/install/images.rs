//! The images of the container road. They are built here, from what the package registries hold: none is pulled.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::look::{debian_12, kafka_folder, trixie};
use super::{command, folder, rootfs};
use crate::brokers::native::KAFKA_SETTINGS;
use crate::brokers::{BrokerError, Server, container, locate, say, unique};

/// For one image; the largest takes 20 s.
const DEADLINE: Duration = Duration::from_secs(600);
/// What an image of RabbitMQ 4 needs to know, one instruction an element.
const RABBITMQ_4: [&str; 5] = [
    // Its guest comes from outside of the container.
    "ENV RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=\"-rabbit loopback_users []\"",
    "ENV RABBITMQ_NODENAME=rabbit@localhost RABBITMQ_CONF_ENV_FILE=/dev/null HOME=/var/lib/rabbitmq",
    "USER rabbitmq",
    "EXPOSE 5672",
    "CMD [\"/usr/lib/rabbitmq/bin/rabbitmq-server\"]",
];

/// Builds the images that the engine has not got, and says each; with `newer` that of RabbitMQ 4 too.
///
/// # Errors
///
/// [`BrokerError::Engine`] where none answers, [`BrokerError::NotInstalled`] where what it takes cannot be installed, and what went wrong.
pub fn images(newer: bool) -> Result<(), BrokerError> {
    for server in Server::ALL.into_iter().filter(|server| newer || server.is_default()) {
        let Some((name, tag)) = server.image() else { continue };
        if container::has_image(server)? {
            say(&format!("there already: the image {name}:{tag}"));
            continue;
        }
        say(&format!("building the image {name}:{tag}"));
        match server {
            Server::RabbitMq4 => rabbitmq_4(&format!("{name}:{tag}"))?,
            _ => build(server, &format!("{name}:{tag}"))?,
        }
    }
    Ok(())
}

/// From the Dockerfile beside the sources, on a Debian 12 that is made and imported where it is missing.
fn build(server: Server, image: &str) -> Result<(), BrokerError> {
    base(server)?;
    let context = Context(std::env::temp_dir().join(unique("queue-test-image")));
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("images").join(server.name());
    copy(&sources, &context.0)?;
    if server == Server::Kafka {
        super::install(server)?;
        copy(&kafka_folder().join("libs"), &context.0.join("libs"))?;
        let settings = context.0.join("server.properties");
        let written = fs::write(&settings, KAFKA_SETTINGS);
        written.map_err(|source| BrokerError::Folder { path: settings, source })?;
    }
    let mut docker = docker()?;
    // The old builder needs no plugin. The host's network: apt gets out as it does here.
    docker.env("DOCKER_BUILDKIT", "0").args(["build", "--quiet", "--network", "host", "--tag", image]).arg(&context.0);
    command::run(&mut docker, DEADLINE).map(drop)
}

fn base(server: Server) -> Result<(), BrokerError> {
    const BASE: &str = "queue-test-base:bookworm";
    let mut there = docker()?;
    if command::run(there.args(["image", "inspect", BASE]), DEADLINE).is_ok() {
        return Ok(());
    }
    let place = debian_12();
    if !place.exists() {
        say(&format!("making a Debian 12 in {}: 40 s, 170 MB", place.display()));
        folder::filled(&place, |part| rootfs::debian(server, "bookworm", part))?;
    }
    import(&place, BASE, &[])
}

fn rabbitmq_4(image: &str) -> Result<(), BrokerError> {
    super::install(Server::RabbitMq4)?;
    import(&trixie(), image, &RABBITMQ_4)
}

/// A folder as an image.
fn import(folder: &Path, image: &str, instructions: &[&str]) -> Result<(), BrokerError> {
    docker()?;
    let script =
        "folder=$1 image=$2; shift 2; tar -C \"$folder\" --exclude='./tmp/*' -c . | docker import \"$@\" - \"$image\"";
    let mut sh = Command::new("sh");
    sh.args(["-c", script, "queue-test-import"]).arg(folder).arg(image);
    sh.args(instructions.iter().flat_map(|instruction| ["--change", instruction]));
    command::run(&mut sh, DEADLINE).map(drop)
}

fn docker() -> Result<Command, BrokerError> {
    let program = locate::program("docker").ok_or_else(|| BrokerError::Program {
        program: "docker".into(),
        source: std::io::ErrorKind::NotFound.into(),
    })?;
    Ok(Command::new(program))
}

/// What an image is built from.
struct Context(PathBuf);

impl Drop for Context {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// The files of a folder, which has no folders.
fn copy(from: &Path, to: &Path) -> Result<(), BrokerError> {
    let copy = || -> std::io::Result<()> {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
        Ok(())
    };
    copy().map_err(|source| BrokerError::Folder { path: to.to_owned(), source })
}
