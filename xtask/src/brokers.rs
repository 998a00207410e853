//! `cargo xtask brokers`: brokers for tests. What it does is in `integration-tests`; so xtask stays small.

use crate::cargo;
use crate::command::{Failure, Verdict};

/// The program, without what it is told.
const PROGRAM: [&str; 7] = ["run", "--quiet", "--package", "integration-tests", "--bin", "brokers", "--"];

/// Passes the words on.
pub(crate) fn run(rest: &[String]) -> Verdict {
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    cargo::run(&[&PROGRAM[..], &words[..]].concat())?;
    Ok(words.first().copied().unwrap_or("help").to_owned())
}

/// Runs cargo with `arguments` while the three brokers are there, and ends them with it. Their program must have been built before, with
/// the features of the workspace.
pub(crate) fn around(options: &[&str], arguments: &[&str]) -> Result<(), Failure> {
    let program = cargo::target("debug").join("brokers");
    cargo::run_under(&program, &[&["run"], options, &["--"]].concat(), arguments)
}
