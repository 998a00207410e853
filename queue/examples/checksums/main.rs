//! `checksums PATH`: the SHA-256 of every file below PATH, each file a job on a queue.
//!
//! It writes what `sha256sum --check` reads, so a tree is recorded and checked like this:
//!
//! ```sh
//! cargo run --release --example checksums -- PATH --out /tmp/sums
//! cd PATH && sha256sum --check --quiet /tmp/sums
//! ```
//!
//! How a file travels: `walk` finds it and enqueues a [`job::Job`], waiting while the queue is full, so that a tree of any
//! size needs the same memory; a slot runs `hash` on a thread of its own, in pieces; the line goes to `manifest` with one
//! write; at the end the lines are sorted, each path once. Ctrl-C ends the queue: what is done stays, what is not is named.
#![allow(clippy::print_stdout, clippy::print_stderr)]
#![cfg_attr(not(unix), allow(unused))]

#[cfg(unix)]
mod args;
#[cfg(unix)]
mod hash;
#[cfg(unix)]
mod job;
#[cfg(unix)]
mod manifest;
#[cfg(unix)]
mod progress;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod walk;
#[cfg(unix)]
mod worker;

/// All done.
const DONE: u8 = 0;
/// Some files could not be read, or the manifest could not be written.
const INCOMPLETE: u8 = 1;
/// The command line makes no sense, or names what is not there.
const USAGE: u8 = 2;
/// Ended by Ctrl-C: 128 and the number of the signal, as shells count.
const INTERRUPTED: u8 = 130;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    let args = match args::parse() {
        Ok(Some(args)) => args,
        Ok(None) => {
            print!("{}", args::HELP);
            return DONE.into();
        }
        Err(error) => {
            eprintln!("checksums: {error}\nTry 'checksums --help'.");
            return USAGE.into();
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("checksums: cannot start: {error}");
            return INCOMPLETE.into();
        }
    };
    let code = runtime.block_on(run::until_interrupted(args));
    // A thread that hangs in a read must not keep the program: nothing it could still say is wanted.
    runtime.shutdown_background();
    code.into()
}

/// A name is bytes in the manifest's format, and only Unix has it like that.
#[cfg(not(unix))]
fn main() {
    eprintln!("checksums: this example needs Unix");
}
