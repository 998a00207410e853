//! Brokers for tests, on the command line: `cargo xtask brokers COMMAND` runs this.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line program talks through its output")]

#[cfg(unix)]
mod unix;

use std::process::ExitCode;

#[cfg(unix)]
fn main() -> ExitCode {
    unix::main()
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    eprintln!("brokers are started on Unix only; set QUEUE_TEST_REDIS_URL, QUEUE_TEST_AMQP_URL and QUEUE_TEST_KAFKA");
    ExitCode::FAILURE
}
