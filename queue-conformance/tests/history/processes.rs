//! Many processes, one log.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use queue::{Ring, Worker};
use queue_conformance::history::{Claims, Place, Recorded, Recorder, check};

use crate::format::tempfile;

/// How long a child may take: a bound, not an expectation.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// This test binary again, as the child `role`, which is the test of that name.
pub(crate) fn child(role: &str, log: &Path, name: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", role, "--ignored", "--nocapture"]);
    command.env("HISTORY_LOG", log).env("HISTORY_NAME", name).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// The recorder of a child. None where the test was not started as one.
pub(crate) fn as_child() -> Option<Recorder> {
    let (log, name) = (std::env::var_os("HISTORY_LOG")?, std::env::var("HISTORY_NAME").ok()?);
    Some(Recorder::append(log, &name).unwrap())
}

/// Waits for `done`, and fails where that takes too long.
pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = tokio::time::Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::yield_now();
    }
}

/// A child that writes many events and ends in order.
#[test]
#[ignore = "a part of another test: it is run as a process of its own"]
fn writer() {
    let Some(recorder) = as_child() else { return };
    let ring = Recorded::new(Ring::once(), &recorder);
    // 3 events a job, and one for the end.
    for job in 0..8_333_u64 {
        let id = ring.try_one(job).unwrap();
        recorder.left(id, Place::Waiting);
    }
    recorder.close().unwrap();
}

/// F-18: four processes write 100,000 events to one log, and no line is torn or out of its process's order.
#[test]
fn many_processes_write_one_log() {
    let file = tempfile();
    let parent = Recorder::create(&file.0, "parent", Claims::new()).unwrap();
    let mut children: Vec<_> = (0..4).map(|n| child("processes::writer", &file.0, &format!("c{n}"))).collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    parent.close().unwrap();
    let mut next: HashMap<String, u64> = HashMap::new();
    let mut switches = (String::new(), 0);
    for line in BufReader::new(std::fs::File::open(&file.0).unwrap()).lines().skip(1) {
        let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let process = line["p"].as_str().unwrap().to_owned();
        if let Some(n) = line["publish"]["n"].as_u64() {
            let next = next.entry(process.clone()).or_insert(1);
            assert_eq!(*next, n, "{process}");
            *next += 1;
        }
        if switches.0 != process {
            switches = (process, switches.1 + 1);
        }
    }
    assert!(next.len() == 4 && next.values().all(|next| *next == 8_334), "{next:?}");
    assert!(switches.1 > 8, "the processes did not run side by side");
    let report = check(BufReader::new(std::fs::File::open(&file.0).unwrap())).unwrap();
    assert!(report.holds() && report.torn_lines() == 0, "{report}");
    assert_eq!(report.counts().events, 4 * 25_000 + 1);
}

/// A child that writes until it is killed.
#[test]
#[ignore = "a part of another test: it is run as a process of its own"]
fn endless() {
    let Some(recorder) = as_child() else { return };
    for job in 0_u64.. {
        let ring = Recorded::new(Ring::once(), &recorder);
        let id = ring.try_one(job).unwrap();
        recorder.left(id, Place::Waiting);
    }
}

/// F-18: processes that are killed while they write, beside others that go on, leave a log that can be checked.
#[test]
fn a_killed_writer_leaves_a_log_that_can_be_checked() {
    let file = tempfile();
    let parent = Recorder::create(&file.0, "parent", Claims::new()).unwrap();
    let length = || std::fs::metadata(&file.0).unwrap().len();
    for round in 0..6 {
        let names = [format!("a{round}"), format!("b{round}")];
        let mut children = names.each_ref().map(|name| child("processes::endless", &file.0, name));
        let begun = length();
        until("the children write", || length() > begun + 200_000);
        for (child, name) in children.iter_mut().zip(&names) {
            child.kill().unwrap();
            child.wait().unwrap();
            parent.killed(name);
        }
    }
    parent.close().unwrap();
    let report = check(BufReader::new(std::fs::File::open(&file.0).unwrap())).unwrap();
    // A job that was confirmed and whose inventory line was never written is lost as far as the log knows: the last of each process.
    let lost: u64 = report.violations().iter().map(|of| of.total).sum();
    assert!(lost <= 12 && report.counts().kills == 12, "{report}");
}
