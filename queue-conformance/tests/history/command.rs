//! The command, as a process.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use crate::format::tempfile;
use crate::log::Log;

fn run(arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_queue-history"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may end before it has read all.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// F-18: the command ends with 0 for a log that holds, 1 for one that does not, 2 for one that it cannot read.
#[test]
fn the_command_tells_what_it_found() {
    let good = Log::new().lives(1, 1).text();
    let (code, out, err) = run(&["-"], &good);
    assert!(code == Some(0) && out.ends_with("the log holds\n") && err.is_empty(), "{out}{err}");

    let (code, out, _) = run(&["-"], &Log::new().sent(1).text());
    assert!(code == Some(1) && out.contains("lost jobs (1)") && out.contains("does not hold: 1 violations"), "{out}");

    let (code, out, err) = run(&["-"], "nonsense\n");
    assert!(code == Some(2) && out.is_empty() && err.contains("line 1 is no header"), "{err}");

    let (code, out, _) = run(&["-"], "{\"history\":1}\n");
    assert!(code == Some(0) && out.contains("nothing was published"), "{out}");

    let file = tempfile();
    std::fs::write(&file.0, &good).unwrap();
    assert_eq!(run(&[file.0.to_str().unwrap()], "").0, Some(0));
    std::fs::write(&file.0, "").unwrap();
    let (code, _, err) = run(&[file.0.to_str().unwrap()], "");
    assert!(code == Some(2) && err.contains("the log is empty"), "{err}");
    std::fs::remove_file(&file.0).unwrap();
    let (code, _, err) = run(&[file.0.to_str().unwrap()], "");
    assert!(code == Some(2) && err.contains("No such file"), "{err}");
    let (code, _, err) = run(&[env!("CARGO_TARGET_TMPDIR")], "");
    assert!(code == Some(2) && err.contains("directory"), "{err}");
}

/// F-18: it explains itself, and takes one log.
#[test]
fn the_command_explains_itself() {
    let (code, out, _) = run(&["--help"], "");
    assert!(code == Some(0) && out.contains("Usage: queue-history LOG"), "{out}");
    for arguments in [&[][..], &["a", "b"], &["--verbose"], &["--help", "a"]] {
        let (code, out, err) = run(arguments, "");
        assert!(code == Some(2) && out.is_empty() && err.contains("one log was expected"), "{arguments:?} {err}");
    }
}
