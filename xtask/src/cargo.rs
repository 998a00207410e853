//! Runs cargo on this workspace.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use crate::command::Failure;

/// The workspace's root folder.
pub(crate) fn workspace() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// Runs cargo with `arguments` in the workspace, its output going where ours goes.
///
/// # Errors
/// When cargo cannot be started or ends with another code than 0.
pub(crate) fn run(arguments: &[&str]) -> Result<(), Failure> {
    run_with(arguments, &[])
}

/// As [`run`], with variables of the environment.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_with(arguments: &[&str], variables: &[(&str, String)]) -> Result<(), Failure> {
    let said: String = variables.iter().map(|(name, value)| format!("{name}='{value}' ")).collect();
    println!("+ {said}cargo {}", arguments.join(" "));
    let status = command(arguments).envs(variables.iter().cloned()).status().map_err(|error| not_started(&error))?;
    succeeded(arguments, status)
}

/// Runs a program in the workspace, its output going where ours goes.
///
/// # Errors
/// When it cannot be started or ends with another code than 0.
pub(crate) fn run_program(program: &Path, arguments: &[&str]) -> Result<(), Failure> {
    let line = format!("{} {}", program.display(), arguments.join(" "));
    println!("+ {line}");
    let status = Command::new(program).args(arguments).current_dir(workspace()).status();
    let status =
        status.map_err(|error| Failure::new(format!("{} could not be started: {error}", program.display())))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{line}` ended with {status}"))) }
}

/// Where builds go whose flags are not those of the others.
pub(crate) fn target(name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from);
    target.join(name)
}

/// The variable that says so.
pub(crate) fn folder(name: &str) -> (&'static str, String) {
    ("CARGO_TARGET_DIR", target(name).display().to_string())
}

/// Runs cargo with `arguments` in the workspace and gives what it wrote to its standard output.
///
/// # Errors
/// As [`run`], and when the output is not UTF-8.
pub(crate) fn output(arguments: &[&str]) -> Result<String, Failure> {
    let output = command(arguments).output().map_err(|error| not_started(&error))?;
    if !output.status.success() {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
    }
    succeeded(arguments, output.status)?;
    String::from_utf8(output.stdout).map_err(|error| Failure::new(format!("output of cargo: {error}")))
}

/// The cargo that `cargo xtask` is: the same, where there are several.
pub(crate) fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(arguments).current_dir(workspace());
    command
}

fn succeeded(arguments: &[&str], status: ExitStatus) -> Result<(), Failure> {
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("`cargo {}` ended with {status}", arguments.join(" "))))
}

fn not_started(error: &std::io::Error) -> Failure {
    Failure::new(format!("cargo could not be started: {error}"))
}
