//! `cargo xtask brokers`: brokers for tests. What it does is a program of `integration-tests`; so xtask stays small.

use std::path::PathBuf;

use crate::cargo;
use crate::command::{Failure, Verdict};

/// Builds the program with the features that the tests of the workspace have: with fewer, what they share would be built twice.
const BUILD: [&str; 7] = ["test", "--quiet", "--workspace", "--all-features", "--test", "brokers", "--no-run"];

/// Passes the words on.
pub(crate) fn run(rest: &[String]) -> Verdict {
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    cargo::run(&BUILD)?;
    cargo::run_program(&program(), &words)?;
    Ok(words.first().copied().unwrap_or("help").to_owned())
}

/// Runs cargo with `arguments` while the three brokers are there, and ends them with it. The tests of the workspace must have been built.
pub(crate) fn around(options: &[&str], arguments: &[&str]) -> Result<(), Failure> {
    let cargo = cargo::program().to_string_lossy().into_owned();
    cargo::run_program(&program(), &[&["run"], options, &["--", &cargo], arguments].concat())
}

fn program() -> PathBuf {
    cargo::target("debug").join("brokers")
}
