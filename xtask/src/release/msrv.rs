//! A build of the workspace with the compiler that `rust-version` names, where rustup has it.

use std::process::Command;

use serde_json::Value;

use super::Done;
use crate::cargo;
use crate::command::Failure;

pub(super) fn run() -> Result<Done, Failure> {
    let version = oldest(&cargo::output(&["metadata", "--format-version", "1", "--no-deps"])?)?;
    let installed = Command::new("rustup").args(["toolchain", "list"]).output();
    let installed = installed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let Some(toolchain) = toolchain(&installed, &version) else {
        return Ok(Done::LeftOut(format!("rustup has no toolchain {version}")));
    };
    let arguments = ["run", toolchain, "cargo", "check", "--workspace", "--all-features", "--locked"];
    println!("+ rustup {}", arguments.join(" "));
    let (name, folder) = cargo::folder("msrv");
    // Set by the cargo that runs us: the other one has its own.
    let mut rustup = Command::new("rustup");
    rustup.args(arguments).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN").env(name, folder);
    let status = rustup.current_dir(cargo::workspace()).status();
    match status.map_err(|error| Failure::new(format!("rustup: {error}")))?.success() {
        true => Ok(Done::Well(format!("everything builds with {version}"))),
        false => Err(Failure::new(format!("it does not build with {version}"))),
    }
}

/// The `rust-version` in the answer of `cargo metadata`.
fn oldest(metadata: &str) -> Result<String, Failure> {
    let metadata: Value =
        serde_json::from_str(metadata).map_err(|error| Failure::new(format!("`cargo metadata`: {error}")))?;
    let version = metadata["packages"][0]["rust_version"].as_str();
    version.map(str::to_owned).ok_or_else(|| Failure::new("`cargo metadata` names no rust-version"))
}

/// The installed toolchain of that version: `1.88` is `1.88.0-x86_64-…` as well.
fn toolchain<'a>(installed: &'a str, version: &str) -> Option<&'a str> {
    let names = installed.lines().filter_map(|line| line.split_whitespace().next());
    names
        .into_iter()
        .find(|name| name.strip_prefix(version).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-'])))
}

#[cfg(test)]
mod tests {
    use super::{oldest, toolchain};

    #[test]
    fn the_toolchain_is_found_by_its_version() {
        let installed =
            "stable-x86_64-unknown-linux-gnu (active, default)\n1.8.0-x86\n1.88.0-x86_64-unknown-linux-gnu\n";
        assert_eq!(toolchain(installed, "1.88"), Some("1.88.0-x86_64-unknown-linux-gnu"));
        assert_eq!(toolchain(installed, "1.89"), None);
        assert_eq!(toolchain("1.880.0-x86\n", "1.88"), None);
    }

    #[test]
    fn the_version_is_the_packages() {
        assert_eq!(oldest(r#"{"packages": [{"rust_version": "1.88"}]}"#).unwrap(), "1.88");
        assert!(oldest("{}").is_err());
    }
}
