//! A Debian in a folder: for a server that this one is too old for, and as the base of images.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::look::trixie;
use super::{apt, command, folder};
use crate::brokers::{BrokerError, Server, locate, say};

/// For the base, which takes 40 s, and for a server in it, which takes 20 s.
const DEADLINE: Duration = Duration::from_secs(600);
/// No manual pages and translations. Written without waiting for the disk: what breaks off is thrown away as a whole.
const DPKG: &str = "force-unsafe-io\npath-exclude=/usr/share/man/*\npath-exclude=/usr/share/locale/*\n\
                    path-exclude=/usr/share/doc/*\npath-include=/usr/share/doc/*/copyright\n";

/// Debian 13 with its RabbitMQ, which is 4.0.
pub(super) fn install_trixie() -> Result<(), BrokerError> {
    let (server, place) = (Server::RabbitMq4, trixie());
    say(&format!("making a Debian 13 with rabbitmq-server in {}: a minute, 200 MB", place.display()));
    folder::filled(&place, |part| {
        debian(server, "trixie", part)?;
        // A mount namespace of its own: /proc is gone when the command is.
        let inside = "mount -t proc proc \"$1/proc\" && chroot \"$1\" sh -c 'apt-get -qq update && \
                      apt-get -qq -y install --no-install-recommends rabbitmq-server && apt-get clean'";
        let mut packages = Command::new("unshare");
        packages.args(["--mount", "sh", "-c", inside, "queue-test-root"]).arg(part);
        command::run(packages.env("DEBIAN_FRONTEND", "noninteractive"), DEADLINE)?;
        drop(fs::remove_dir_all(part.join("var/lib/apt/lists")));
        Ok(())
    })
}

/// The smallest Debian of a suite, in an existing empty folder.
///
/// # Errors
///
/// [`BrokerError::NotInstalled`] where this is not root on a Debian.
pub(super) fn debian(server: Server, suite: &str, folder: &Path) -> Result<(), BrokerError> {
    if locate::program("debootstrap").is_none() || !rustix::process::geteuid().is_root() {
        apt::install(server, &["debootstrap"])?;
    }
    let mirror = apt::mirror(server)?;
    let write = |name: &str, content: &str, mode: u32| {
        let path = folder.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, content));
        let made = made.and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(mode)));
        made.map_err(|source| BrokerError::Folder { path, source })
    };
    // A cache folder is its user's own, but servers change their user in there.
    let open = fs::set_permissions(folder, fs::Permissions::from_mode(0o755));
    open.map_err(|source| BrokerError::Folder { path: folder.to_owned(), source })?;
    write("etc/dpkg/dpkg.cfg.d/queue-test", DPKG, 0o644)?;
    command::run(Command::new("debootstrap").args(["--variant=minbase", suite]).arg(folder).arg(mirror), DEADLINE)?;
    write("usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n", 0o755)?;
    write("etc/hosts", "127.0.0.1 localhost\n", 0o644)?;
    for unused in ["usr/share/man", "usr/share/locale", "var/lib/apt/lists", "var/cache/apt"] {
        drop(fs::remove_dir_all(folder.join(unused)));
    }
    Ok(())
}
