//! `cargo xtask test`: what it takes to trust the tree. It needs cargo and a C compiler, nothing else.

use crate::command::{self, Verdict};
use crate::{cargo, models};

/// Runs the tests of all crates with all features. Cargo builds the examples on the way and runs the documentation's code blocks after them.
///
/// All test programs run even if one fails, and the models too, so that one run shows everything.
pub(crate) fn run(rest: &[String]) -> Verdict {
    command::no_arguments(rest)?;
    let tests = cargo::run(&["test", "--workspace", "--all-features", "--no-fail-fast"]);
    let models = models::small();
    tests.and(models)?;
    Ok("every test and code block passed, every model held, every example builds".to_owned())
}
