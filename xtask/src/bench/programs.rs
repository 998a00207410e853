//! Builds and runs the programs that measure.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::line::Line;
use super::options::Options;
use crate::cargo;
use crate::command::Failure;

/// One program: its name, and where it is.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// The order of the table.
const ORDER: [&str; 18] = [
    "bench-floors",
    "bench-ring",
    "bench-block",
    "bench-submit",
    "bench-bare",
    "bench-many",
    "bench-stack",
    "bench-rounds",
    "bench-dyn",
    "bench-enqueuer",
    "bench-clone",
    "bench-told",
    "bench-retry",
    "bench-ends",
    "bench-busy",
    "bench-backlog",
    "bench-waits",
    "bench-peers",
];

/// Builds all programs for speed.
pub(super) fn build() -> Result<Vec<Program>, Failure> {
    let format = "--message-format=json-render-diagnostics";
    let messages = cargo::output(&["build", "--release", "--package", "bench", "--bins", format])?;
    let mut programs: Vec<_> = messages.lines().filter_map(program).collect();
    programs.sort_by_key(|program| place(&program.name));
    Ok(programs)
}

/// Where the program stands in the table; one that nobody gave a place stands last.
fn place(name: &str) -> usize {
    ORDER.iter().position(|&other| other == name).unwrap_or(ORDER.len())
}

/// The program that a message of cargo tells of.
fn program(message: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    let path = message["executable"].as_str()?.into();
    Some(Program { name: message["target"]["name"].as_str()?.to_owned(), path })
}

/// Runs them one after the other, so that none disturbs another.
pub(super) fn run(programs: &[Program], options: &Options) -> Result<Vec<Line>, Failure> {
    let mut lines = Vec::new();
    for program in programs {
        eprintln!("+ {}", program.name);
        let mut command = Command::new(&program.path);
        command.args(options.quick.then_some("--quick")).args(&options.names).stderr(Stdio::inherit());
        let output = command.output().map_err(|error| Failure::new(format!("{}: {error}", program.name)))?;
        if !output.status.success() {
            return Err(Failure::new(format!("{} ended with {}", program.name, output.status)));
        }
        let written = String::from_utf8_lossy(&output.stdout);
        for line in written.lines() {
            lines.push(Line::read(line)?);
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::{place, program};

    #[test]
    fn every_program_has_its_place() {
        let manifest = include_str!("../../../bench/Cargo.toml");
        let names = manifest.lines().filter_map(|line| line.strip_prefix("name = \"bench-")?.strip_suffix('"'));
        let mut places: Vec<_> = names.map(|name| place(&format!("bench-{name}"))).collect();
        places.sort_unstable();
        assert_eq!(places, (0..super::ORDER.len()).collect::<Vec<_>>());
    }

    #[test]
    fn only_a_message_with_an_executable_is_a_program() {
        let message = r#"{"reason":"compiler-artifact","target":{"name":"bench-bare"},"executable":"/t/bench-bare"}"#;
        let found = program(message).unwrap();
        assert_eq!((found.name.as_str(), found.path.to_str()), ("bench-bare", Some("/t/bench-bare")));
        assert!(program(r#"{"target":{"name":"queue"},"executable":null}"#).is_none());
        assert!(program("not JSON").is_none());
    }
}
