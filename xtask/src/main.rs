//! The developers' commands: `cargo xtask COMMAND`.
//!
//! Each command is a module with a `run` and one line in [`COMMANDS`]. It gets what follows its name on the command line and answers with a
//! verdict: one line for success, or a [`Failure`], which also sets the exit code.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line program talks through its output")]

mod behaviours;
mod bench;
mod brokers;
mod cargo;
mod command;
mod conformance;
mod features;
mod models;
mod release;
mod test;

use std::env;
use std::process::ExitCode;

use command::{Command, Failure, Verdict};

/// Every command, in the order of the help text.
const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        about: "all tests, documentation tests and models included, and a build of the examples; on Redis, RabbitMQ and Kafka",
        run: test::run,
    },
    Command { name: "behaviours", about: "docs/behaviours.md against the tests that cite it", run: behaviours::run },
    Command {
        name: "brokers",
        about: "Redis, RabbitMQ and Kafka for tests; `brokers help` says more",
        run: brokers::run,
    },
    Command { name: "features", about: "each library crate with each of its features alone", run: features::run },
    Command { name: "models", about: "ring and engine in every interleaving of their threads", run: models::run },
    Command {
        name: "bench",
        about: "speed and allocations, held against limits; `bench --help` says more",
        run: bench::run,
    },
    Command {
        name: "conformance",
        about: "the suite for workers; `--all`: every broken worker against every row",
        run: conformance::run,
    },
    Command {
        name: "release-check",
        about: "the slow rest: what a release must pass; `release-check --help` says more",
        run: release::run,
    },
    Command { name: "help", about: "this list", run: help },
];

fn main() -> ExitCode {
    let mut words = env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "help".to_owned());
    let rest: Vec<String> = words.collect();
    let verdict = match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(&rest),
        None => Err(Failure::new("no such command; `cargo xtask help` lists them")),
    };
    match verdict {
        Ok(said) => {
            println!("xtask {name}: ok: {said}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("xtask {name}: FAILED: {failure}");
            ExitCode::from(failure.code())
        }
    }
}

fn help(rest: &[String]) -> Verdict {
    command::no_arguments(rest)?;
    println!("cargo xtask COMMAND");
    for command in COMMANDS {
        println!("  {:<15}{}", command.name, command.about);
    }
    Ok(format!("{} commands", COMMANDS.len()))
}
