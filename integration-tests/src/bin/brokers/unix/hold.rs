//! `up`, `status` and `down`: brokers that stay until they are told to go.
//!
//! A process in the background holds them, as a test process holds its own. Whatever ends it ends them.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use integration_tests::brokers::probe::{Address, ask};
use integration_tests::brokers::{Broker, Deadline, Kind, Settings, container, say};

use super::{Failure, start, state};

/// The longest that the three may take to answer.
const DEADLINE: Duration = Duration::from_secs(150);

/// Starts the process in the background, waits until it holds all brokers, and prints them.
pub(super) fn up(may_install: bool) -> Result<(), Failure> {
    let settings = Settings::of_environment()?;
    let folder = state::enter()?;
    if let Some(held) = state::ask("status") {
        println!("up already, since they were not told to go: `cargo xtask brokers down`");
        print(&held);
        return Ok(());
    }
    if may_install {
        start::install_missing(&settings);
    }
    let log = || -> std::io::Result<(File, File)> {
        let log = File::create(state::LOG)?;
        Ok((log.try_clone()?, log))
    };
    let (out, err) = log().map_err(Failure::io(format!("writing to {}", folder.display())))?;
    let program = std::env::current_exe().map_err(Failure::io("finding this program"))?;
    let mut holder = Command::new(program);
    holder.arg("hold").process_group(0).stdin(Stdio::null()).stdout(out).stderr(err);
    let mut holder = holder.spawn().map_err(Failure::io("the start of the process that holds them"))?;
    let held = Deadline::after(DEADLINE).until(|| match holder.try_wait() {
        Ok(None) => state::ask("status").map(Ok),
        _ => Some(Err(std::fs::read_to_string(state::LOG).unwrap_or_default())),
    });
    match held {
        Some(Ok(held)) => print(&held),
        Some(Err(log)) => return Err(Failure::Left(format!("the brokers did not start\n{}", log.trim_end()))),
        None => {
            drop(holder.kill());
            return Err(Failure::Left(format!("the brokers do not answer after {DEADLINE:?}; they were ended")));
        }
    }
    Ok(())
}

/// The process in the background.
pub(super) fn hold() -> Result<(), Failure> {
    let settings = Settings::of_environment()?;
    state::enter()?;
    let mut brokers = Vec::new();
    for (_, broker) in start::all(&settings) {
        brokers.push(broker?);
    }
    let listener = state::listen()?;
    let lines: String = brokers.iter().map(line).collect();
    for client in listener.incoming() {
        let mut client = client.map_err(Failure::io("accepting on the socket"))?;
        let mut word = String::new();
        drop(client.set_read_timeout(Some(Duration::from_secs(5))));
        drop(BufReader::new(&client).read_line(&mut word));
        match word.trim_end() {
            "status" => drop(client.write_all(lines.as_bytes())),
            "down" => {
                drop(brokers);
                state::leave();
                drop(client.write_all(b"done\n"));
                return Ok(());
            }
            other => say(&format!("asked for `{other}`")),
        }
    }
    Ok(())
}

fn line(broker: &Broker) -> String {
    format!("{} {} {} {}\n", broker.server().kind(), broker.url(), broker.road(), broker.version())
}

/// The parts of such a line.
fn parts(line: &str) -> Option<(Kind, &str, &str, &str)> {
    let mut words = line.splitn(4, ' ');
    let kind = words.next()?;
    let kind = Kind::ALL.into_iter().find(|of| of.name() == kind)?;
    Some((kind, words.next()?, words.next()?, words.next()?))
}

fn print(held: &str) {
    for (kind, url, road, version) in held.lines().filter_map(parts) {
        println!("{kind}: {url} (version {version}, road: {road})");
    }
    for (kind, url, ..) in held.lines().filter_map(parts) {
        println!("export {}={url}", kind.variable());
    }
}

/// Asks each broker. Fails when one does not answer.
pub(super) fn status() -> Result<ExitCode, Failure> {
    state::enter()?;
    let Some(held) = state::ask("status") else {
        println!("no brokers are up");
        return Ok(ExitCode::SUCCESS);
    };
    let mut code = ExitCode::SUCCESS;
    for (kind, url, road, _) in held.lines().filter_map(parts) {
        let answer = Address::of(kind, url).map(|at| ask(kind, &at, Deadline::after(Duration::from_secs(2))));
        match answer {
            Some(Ok(version)) => println!("{kind}: {url} answers (version {version}, road: {road})"),
            Some(Err(error)) => {
                println!("{kind}: {url} does not answer: {error}");
                code = ExitCode::FAILURE;
            }
            None => println!("{kind}: its URL is of a form that cannot be asked"),
        }
    }
    Ok(code)
}

/// Ends the process and with it all brokers, and the containers of test processes that were killed.
pub(super) fn down() -> Result<(), Failure> {
    state::enter()?;
    match state::ask("down").as_deref() {
        Some("done\n") => println!("all brokers are down, and what they wrote is removed"),
        Some(_) => return Err(Failure::Left("the process that holds the brokers did not end them in time".to_owned())),
        None => {
            state::leave();
            println!("no brokers were up");
        }
    }
    container::sweep();
    Ok(())
}
