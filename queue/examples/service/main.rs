//! `service`: takes emails and invoices over HTTP, and writes them to an outbox folder, each a job on a queue.
//!
//! ```sh
//! cargo run --release --example service -- --outbox /tmp/outbox
//! curl -i localhost:8080/emails -H 'content-type: application/json' \
//!     -d '{"to": "ada@example.org", "subject": "welcome", "text": "hello"}'
//! curl -i localhost:8080/health
//! ```
//!
//! How a request travels: `http` reads it and enqueues a job, waiting a moment for room where the queue is full; 202 has the id
//! of the job, which is in from then on. A slot runs `email` or `invoice`, and the `outbox` has the file `ID.eml` or `ID.txt`,
//! whole or not at all, and once however often the job runs. SIGTERM and Ctrl-C stop it, in `run`: first the intake, then the
//! queue, within a deadline. Then it tells what is done and names what is not.
#![allow(clippy::print_stdout, clippy::print_stderr)]
#![cfg_attr(not(unix), allow(unused))]

#[cfg(unix)]
mod args;
#[cfg(unix)]
mod email;
#[cfg(unix)]
mod health;
#[cfg(unix)]
mod http;
#[cfg(unix)]
mod invoice;
#[cfg(unix)]
mod outbox;
#[cfg(unix)]
mod run;

/// Stopped in order: every job is done or named.
const DONE: u8 = 0;
/// It cannot serve, or its end was not in order.
const FAILED: u8 = 1;
/// The command line makes no sense.
const USAGE: u8 = 2;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    let args = match args::parse() {
        Ok(Some(args)) => args,
        Ok(None) => {
            print!("{}", args::HELP);
            return DONE.into();
        }
        Err(error) => {
            eprintln!("service: {error}\nTry 'service --help'.");
            return USAGE.into();
        }
    };
    let served = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(run::run(args)));
    match served {
        Ok(()) => DONE.into(),
        Err(error) => {
            eprintln!("service: {error}");
            FAILED.into()
        }
    }
}

/// SIGTERM is how a service on Unix is told to stop.
#[cfg(not(unix))]
fn main() {
    eprintln!("service: this example needs Unix");
}
