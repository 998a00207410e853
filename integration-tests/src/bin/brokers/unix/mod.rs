//! The commands.

mod hold;
mod run;
mod start;
mod state;

use std::process::ExitCode;

use integration_tests::brokers::{BrokerError, Server, Settings, install};

const HELP: &str = "\
cargo xtask brokers COMMAND
  up [--no-install]      starts Redis, RabbitMQ and Kafka, which stay, and prints how tests find them
  status                 what runs, and whether it answers
  down                   ends what `up` has started, and removes all of it
  install [--all]        installs what is missing for the three; --all: the newer servers too
  images [--all]         builds the images of the container road that are missing; --all: of RabbitMQ 4.0 too
  run [--no-install] -- PROGRAM [ARGUMENT…]
                         starts the three for one program, and ends them with it";

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Broker(#[from] BrokerError),
    #[error("{what} could not be done")]
    Io { what: String, source: std::io::Error },
    #[error("{0}")]
    Left(String),
}

impl Failure {
    fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { what: what.into(), source }
    }

    fn line(&self) -> String {
        match self {
            Self::Broker(error) => error.chain(),
            Self::Io { source, .. } => format!("{self}: {source}"),
            Self::Usage(_) | Self::Left(_) => self.to_string(),
        }
    }
}

pub(crate) fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [] | ["help" | "--help"] => {
            println!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        ["up"] => hold::up(true).map(|()| ExitCode::SUCCESS),
        ["up", "--no-install"] => hold::up(false).map(|()| ExitCode::SUCCESS),
        ["hold"] => hold::hold().map(|()| ExitCode::SUCCESS),
        ["status"] => hold::status(),
        ["down"] => hold::down().map(|()| ExitCode::SUCCESS),
        ["install"] => install_all(false).map(|()| ExitCode::SUCCESS),
        ["install", "--all"] => install_all(true).map(|()| ExitCode::SUCCESS),
        ["images"] => install::images(false).map(|()| ExitCode::SUCCESS).map_err(Failure::from),
        ["images", "--all"] => install::images(true).map(|()| ExitCode::SUCCESS).map_err(Failure::from),
        ["run", "--no-install", "--", program @ ..] if !program.is_empty() => run::run(false, program),
        ["run", "--", program @ ..] if !program.is_empty() => run::run(true, program),
        other => Err(Failure::Usage(format!("`{}` is no command of this program\n{HELP}", other.join(" ")))),
    };
    done.unwrap_or_else(|failure| {
        eprintln!("brokers: FAILED: {}", failure.line());
        ExitCode::FAILURE
    })
}

/// All are tried, also after one has failed, so that one run shows everything. The first failure is the verdict.
fn install_all(newer: bool) -> Result<(), Failure> {
    let settings = Settings::of_environment()?;
    let mut first = install::install_tools().err();
    for server in Server::ALL.into_iter().filter(|server| newer || server.is_default()) {
        if settings.skips(server) {
            println!("{server}: left out by QUEUE_TEST_SKIP");
        } else if let Err(error) = install::install(server) {
            println!("{server}: {}", error.chain());
            first.get_or_insert(error);
        } else {
            println!("{server}: installed");
        }
    }
    first.map_or(Ok(()), |error| Err(error.into()))
}
