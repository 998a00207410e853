//! `cargo xtask models`: the models of the ring and of the engine, in every interleaving of their threads.
//!
//! They need loom's locks in the libraries, so they are a build of their own, in a folder of its own, with `--cfg loom`.

use crate::cargo;
use crate::command::{self, Failure, Verdict};

/// Of each crate the tests that are models. One call: two would build what they share twice.
const TESTS: [&str; 11] = [
    "test",
    "--package",
    "backend-memory",
    "--package",
    "queue",
    "--lib",
    "--test",
    "models",
    "--no-default-features",
    "--features",
    "queue/memory",
];

/// The small ones: some seconds.
pub(crate) fn run(rest: &[String]) -> Verdict {
    command::no_arguments(rest)?;
    small()?;
    Ok("every model held".to_owned())
}

pub(crate) fn small() -> Result<(), Failure> {
    test(&[])
}

/// The large ones: some minutes.
pub(crate) fn large() -> Result<(), Failure> {
    test(&["--", "--ignored", "large"])
}

fn test(more: &[&str]) -> Result<(), Failure> {
    let flags = with_loom(std::env::var("RUSTFLAGS").ok());
    cargo::run_with(&[&TESTS[..], more].concat(), &[("RUSTFLAGS", flags), cargo::folder("models")])
}

/// What the caller asks of rustc stays asked.
fn with_loom(flags: Option<String>) -> String {
    format!("{} --cfg loom", flags.unwrap_or_default()).trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::with_loom;

    #[test]
    fn the_callers_flags_are_kept() {
        assert_eq!(with_loom(None), "--cfg loom");
        assert_eq!(with_loom(Some("-D warnings".to_owned())), "-D warnings --cfg loom");
    }
}
