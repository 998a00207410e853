//! `cargo xtask test`: what it takes to trust the tree. It needs cargo and a C compiler, nothing else.

use crate::cargo;
use crate::command::{self, Verdict};

/// Runs the tests of all crates with all features. Cargo builds the examples on the way and runs the documentation's code blocks after them.
///
/// All test programs run even if one fails, so that one run shows everything.
pub(crate) fn run(rest: &[String]) -> Verdict {
    command::no_arguments(rest)?;
    cargo::run(&["test", "--workspace", "--all-features", "--no-fail-fast"])?;
    Ok("every test and code block passed, every example builds".to_owned())
}
