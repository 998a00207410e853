//! `run`: the three brokers for one program.
//!
//! Ctrl-C and SIGKILL end this process at once; the watchers of the brokers end them then.

use std::process::{Command, ExitCode};

use integration_tests::brokers::{SKIP, Server, Settings, install, say};

use super::{Failure, start};

pub(super) fn run(may_install: bool, words: &[&str]) -> Result<ExitCode, Failure> {
    let settings = Settings::of_environment()?;
    if may_install {
        start::install_missing(&settings);
    }
    let mut brokers = Vec::new();
    let (program, arguments) = words.split_first().ok_or_else(|| Failure::Usage("run what?".to_owned()))?;
    let mut command = Command::new(program);
    command.args(arguments);
    for (kind, broker) in start::all(&settings) {
        match broker {
            Ok(broker) => {
                say(&broker.to_string());
                command.env(kind.variable(), broker.url());
                brokers.push(broker);
            }
            // Each test that needs it fails, and says why.
            Err(error) => say(&format!("{kind}: {}", error.chain())),
        }
    }
    let skipped = skipped(&settings);
    if !skipped.is_empty() {
        command.env(SKIP, skipped.join(","));
    }
    let status = command.status().map_err(Failure::io(format!("the start of `{program}`")))?;
    for broker in &brokers {
        say(&format!("was used: {broker}"));
    }
    for server in skipped {
        say(&format!("SKIPPED: the tests of {server}"));
    }
    drop(brokers);
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Those that were left out, and the newer servers that are not here: `cargo xtask brokers install --all` brings them.
fn skipped(settings: &Settings) -> Vec<&'static str> {
    let absent = |server: Server| {
        let absent = !server.is_default() && !settings.skips(server) && install::installed(server).is_err();
        if absent {
            say(&format!("{server} is not installed, its tests are skipped: {}", install::way_out(server)));
        }
        absent
    };
    // A default server has the name of all its kind, so it is not listed by what it is called.
    let skipped = Server::ALL.into_iter().filter(|server| settings.skips(*server) || absent(*server));
    skipped.map(Server::name).collect()
}
