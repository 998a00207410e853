//! `cargo xtask test`: what it takes to trust the tree. It needs cargo, a C compiler and three brokers, which it installs where it may.

use crate::command::{self, Verdict};
use crate::{brokers, cargo, models};

/// All tests of all crates with all features.
const TESTS: [&str; 4] = ["test", "--workspace", "--all-features", "--no-fail-fast"];

/// Runs the tests of all crates with all features. Cargo builds the examples on the way and runs the documentation's code blocks after them.
///
/// Redis, RabbitMQ and Kafka are there meanwhile: what is missing is installed, as root, unless `--no-install` is said. They end with the
/// tests, also after a Ctrl-C. All test programs run even if one fails, and the models too, so that one run shows everything.
pub(crate) fn run(rest: &[String]) -> Verdict {
    let options = match rest {
        [word] if word == "--no-install" => vec![word.as_str()],
        rest => command::no_arguments(rest).map(|()| Vec::new())?,
    };
    // Before the brokers start: a build takes minutes.
    cargo::run(&[&TESTS[..], &["--no-run"]].concat())?;
    let tests = brokers::around(&options, &TESTS);
    let models = models::small();
    tests.and(models)?;
    Ok("every test and code block passed, every model held, every example builds".to_owned())
}
