//! Every program runs, checks its own result and says something of each row that it is asked for.
#![allow(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use std::process::Command;

/// The rows that a program writes.
fn rows(program: &str, words: &[&str]) -> Vec<String> {
    let output = Command::new(program).arg("--quick").args(words).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    let written = String::from_utf8(output.stdout).unwrap();
    let name = |line: &str| line.strip_prefix(r#"{"row":""#)?.split('"').next().map(str::to_owned);
    written.lines().map(|line| name(line).unwrap()).collect()
}

#[test]
fn every_program_measures_its_rows() {
    let programs = [
        (env!("CARGO_BIN_EXE_bench-floors"), "floor/", 7),
        (env!("CARGO_BIN_EXE_bench-ring"), "ring/", 9),
        (env!("CARGO_BIN_EXE_bench-block"), "ring/block/", 1),
        (env!("CARGO_BIN_EXE_bench-submit"), "submit/", 4),
        (env!("CARGO_BIN_EXE_bench-bare"), "bare/", 14),
        (env!("CARGO_BIN_EXE_bench-many"), "many/", 2),
        (env!("CARGO_BIN_EXE_bench-stack"), "stack/", 14),
        (env!("CARGO_BIN_EXE_bench-rounds"), "rounds/", 2),
        (env!("CARGO_BIN_EXE_bench-dyn"), "dyn/", 2),
        (env!("CARGO_BIN_EXE_bench-enqueuer"), "enqueuer/", 2),
        (env!("CARGO_BIN_EXE_bench-clone"), "clone/", 2),
        (env!("CARGO_BIN_EXE_bench-told"), "", 8),
        (env!("CARGO_BIN_EXE_bench-retry"), "retry/", 8),
        (env!("CARGO_BIN_EXE_bench-ends"), "", 6),
        (env!("CARGO_BIN_EXE_bench-busy"), "busy/", 1),
        (env!("CARGO_BIN_EXE_bench-backlog"), "backlog/", 5),
        (env!("CARGO_BIN_EXE_bench-waits"), "wait/", 18),
        (env!("CARGO_BIN_EXE_bench-peers"), "", 4),
    ];
    for (program, prefix, count) in programs {
        let rows = rows(program, &[]);
        assert_eq!(rows.len(), count, "{program}: {rows:?}");
        assert!(rows.iter().all(|row| row.starts_with(prefix)), "{program}: {rows:?}");
    }
}

#[test]
fn names_select_rows() {
    let program = env!("CARGO_BIN_EXE_bench-bare");
    assert_eq!(rows(program, &["ct/1-4", "mt2/16-16"]), ["bare/ct/1-4", "bare/mt2/16-16"]);
    assert!(rows(program, &["stack"]).is_empty());
}

#[test]
fn one_run_for_an_instrument_measures_nothing() {
    let output = Command::new(env!("CARGO_BIN_EXE_bench-bare")).args(["one", "bare/ct/1-4", "1000"]).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty());
}
