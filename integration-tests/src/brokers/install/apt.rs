//! Debian packages, without a service that starts by itself.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use super::command::run;
use crate::brokers::{BrokerError, Server, install::way_out, locate, say};

/// For one call of apt-get.
const DEADLINE: Duration = Duration::from_secs(300);
/// What says whether a package may start its service: exit code 101 forbids.
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Installs packages that `server` needs, and says each first.
///
/// # Errors
///
/// [`BrokerError::NotInstalled`] where this is no Debian or not root.
pub(super) fn install(server: Server, packages: &[&str]) -> Result<(), BrokerError> {
    install_for(server.name(), packages, |lacks| BrokerError::NotInstalled {
        server,
        lacks,
        way_out: way_out(server).into(),
    })
}

/// The same for whatever needs them, with its own error where this is no Debian or not root.
pub(super) fn install_for(
    whom: &str,
    packages: &[&str],
    cannot: impl FnOnce(Box<str>) -> BrokerError,
) -> Result<(), BrokerError> {
    let apt = locate::program("apt-get").filter(|_| rustix::process::geteuid().is_root());
    let Some(apt) = apt else {
        let lacks = format!("the package {}, and this is not root on a Debian,", packages.join(" and "));
        return Err(cannot(lacks.into()));
    };
    for package in packages {
        say(&format!("installing the package {package}, for {whom}"));
    }
    update(&apt)?;
    let policy = Policy::forbid()?;
    // The packages' scripts of a JRE want a folder that slim images lack.
    drop(fs::create_dir_all("/usr/share/man/man1"));
    let mut command = quiet(&apt);
    run(command.args(["install", "--no-install-recommends"]).args(packages), DEADLINE)?;
    drop(policy);
    Ok(())
}

/// Where Debian comes from on this machine: no address of it is written anywhere in this project.
///
/// # Errors
///
/// Where apt-get is missing or knows none.
pub(super) fn mirror(server: Server) -> Result<String, BrokerError> {
    let mut command = Command::new("apt-get");
    command.args(["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]);
    let list = run(&mut command, DEADLINE)?;
    let found = list.lines().find(|line| line.contains("://") && !line.contains("security")).map(str::to_owned);
    found.ok_or_else(|| {
        let lacks = "a mirror of Debian in apt's sources".into();
        BrokerError::NotInstalled { server, lacks, way_out: "add one to /etc/apt/sources.list".into() }
    })
}

/// Once a process.
fn update(apt: &Path) -> Result<(), BrokerError> {
    static DONE: OnceLock<()> = OnceLock::new();
    if DONE.get().is_none() {
        run(quiet(apt).arg("update"), DEADLINE)?;
        DONE.get_or_init(|| ());
    }
    Ok(())
}

fn quiet(apt: &Path) -> Command {
    let mut command = Command::new(apt);
    // Another installation on the machine is waited for.
    command.env("DEBIAN_FRONTEND", "noninteractive").args(["-qq", "-y", "-o", "DPkg::Lock::Timeout=120"]);
    command
}

/// What was there.
enum Before {
    Forbidden,
    Nothing,
    File(Vec<u8>, fs::Permissions),
}

/// Forbids services to start, and puts back what was there.
struct Policy {
    before: Before,
}

impl Policy {
    fn forbid() -> Result<Self, BrokerError> {
        let forbidden = Command::new(POLICY).args(["queue-test", "start"]).output();
        if forbidden.is_ok_and(|output| output.status.code() == Some(101)) {
            return Ok(Self { before: Before::Forbidden });
        }
        let failed = |source| BrokerError::Folder { path: POLICY.into(), source };
        let before = match fs::read(POLICY) {
            Ok(content) => Before::File(content, fs::metadata(POLICY).map_err(failed)?.permissions()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Before::Nothing,
            Err(error) => return Err(failed(error)),
        };
        let policy = Self { before };
        let written = fs::write(POLICY, "#!/bin/sh\nexit 101\n");
        written.and_then(|()| fs::set_permissions(POLICY, fs::Permissions::from_mode(0o755))).map_err(failed)?;
        Ok(policy)
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        let restored = match &self.before {
            Before::Forbidden => Ok(()),
            Before::Nothing => fs::remove_file(POLICY),
            Before::File(content, mode) => {
                fs::write(POLICY, content).and_then(|()| fs::set_permissions(POLICY, mode.clone()))
            }
        };
        if let Err(error) = restored {
            say(&format!("{POLICY} could not be put back as it was: {error}"));
        }
    }
}
