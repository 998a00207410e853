//! Nothing is left of a server whose test process ends, however it ends.
//!
//! The process is this program once more: it runs the ignored test [`child`] and nothing else.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use integration_tests::brokers::{Deadline, Kind, Options, Server, Settings, need_private, shared};

/// Says to the child how it ends.
const END: &str = "QUEUE_TEST_CHILD";
/// The longest from the end of the process to the end of all that it started.
const DEADLINE: Duration = Duration::from_secs(10);

/// What the child has started, and where.
struct Started {
    process: Child,
    servers: Vec<u32>,
    folder: PathBuf,
    /// What it writes must be heard until it ends.
    _lines: BufReader<ChildStdout>,
}

/// Starts the child, and waits until it has said what it started.
fn start(end: &str) -> Started {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "leftovers::child", "--ignored", "--nocapture", "--test-threads", "1"]).env(END, end);
    let mut process = child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // Ends with the child, which a deadline of its own ends.
    let mut lines = BufReader::new(process.stdout.take().unwrap());
    let line = lines.by_ref().lines().map_while(Result::ok).find(|line| line.contains("STARTED ")).unwrap();
    let mut words = line.split(' ').skip_while(|word| !word.ends_with("STARTED")).skip(1);
    let folder = words.next().unwrap().into();
    Started { process, servers: words.map(|word| word.parse().unwrap()).collect(), folder, _lines: lines }
}

/// Whether there is such a process and it is no zombie: the init of a container may reap nobody.
fn lives(pid: u32) -> bool {
    let state = Command::new("sh").args(["-c", &format!("cat /proc/{pid}/stat || ps -o stat= -p {pid}")]).output();
    let state = String::from_utf8(state.unwrap().stdout).unwrap();
    let letter = state.rsplit_once(')').map_or_else(|| state.trim(), |(_, rest)| rest.trim()).chars().next();
    letter.is_some_and(|letter| letter != 'Z')
}

fn nothing_is_left(started: &Started) {
    let left = || started.folder.exists() || started.servers.iter().any(|pid| lives(*pid));
    let gone = Deadline::after(DEADLINE).until(|| (!left()).then_some(()));
    assert!(gone.is_some(), "{:?} or one of {:?} is left", started.folder, started.servers);
    let renamed = format!("{}.gone", started.folder.display());
    let removed = Deadline::after(DEADLINE).until(|| (!Path::new(&renamed).exists()).then_some(()));
    assert!(removed.is_some(), "{renamed} is left");
}

#[test]
fn a_killed_process_leaves_nothing() {
    if skipped() {
        return;
    }
    let mut started = start("wait");
    assert!(started.servers.iter().all(|pid| lives(*pid)) && started.folder.exists());
    started.process.kill().unwrap();
    started.process.wait().unwrap();
    nothing_is_left(&started);
}

#[test]
fn a_process_that_panics_leaves_nothing() {
    if skipped() {
        return;
    }
    let mut started = start("panic");
    assert!(!started.process.wait().unwrap().success());
    nothing_is_left(&started);
}

#[test]
fn a_process_that_ends_well_leaves_nothing() {
    if skipped() {
        return;
    }
    let mut started = start("return");
    assert!(started.process.wait().unwrap().success());
    nothing_is_left(&started);
}

fn skipped() -> bool {
    Settings::of_environment().unwrap().skips(Server::Redis)
}

/// Starts a private server, which it freezes, and a shared one, which nothing drops; says so, and ends as it was told.
#[tokio::test]
#[ignore = "the process that the tests beside it start"]
#[expect(clippy::print_stdout, reason = "the parent reads it")]
async fn child() {
    let Ok(end) = std::env::var(END) else { return };
    let private = need_private(Kind::Redis, Options::default()).await.unwrap();
    let shared = shared(Kind::Redis).await.unwrap();
    private.freeze().await.unwrap();
    let servers: Vec<_> = private.pid().into_iter().chain(shared.pid()).map(|pid| pid.to_string()).collect();
    println!("STARTED {} {}", private.folder().display(), servers.join(" "));
    match end.as_str() {
        "return" => {}
        "panic" => panic!("as it was told"),
        _ => tokio::time::sleep(Duration::from_secs(60)).await,
    }
}
