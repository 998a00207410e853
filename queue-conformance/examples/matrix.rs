//! Every broken worker against every row: which rows find which fault, and what would pass without a row.
//!
//! `cargo run -p queue-conformance --example matrix`

#![allow(clippy::print_stdout, reason = "it is a report")]

use std::process::ExitCode;

use queue_conformance::ROWS;
use queue_conformance::broken::{Findings, MISBEHAVIOURS, judge};

fn main() -> ExitCode {
    // Planted panics are part of the matter.
    std::panic::set_hook(Box::new(|_| {}));
    let all: Vec<Findings> = MISBEHAVIOURS.iter().map(|worker| judge(worker, ROWS)).collect();
    for findings in &all {
        println!("{}", findings.worker);
        for (row, how) in &findings.failed {
            println!("    {row}: {how}");
        }
    }
    println!("\nWhat would pass without a row:");
    let mut wrong = 0;
    for row in ROWS {
        let alone: Vec<String> = all
            .iter()
            .filter(|findings| findings.only() == Some(row.id))
            .map(|findings| format!("{:?}", findings.worker.defect))
            .collect();
        wrong += usize::from(alone.is_empty());
        println!(
            "    {}: {}",
            row.id,
            if alone.is_empty() { "nothing: the row proves nothing of its own".to_owned() } else { alone.join(", ") }
        );
    }
    for findings in all.iter().filter(|findings| !findings.missed().is_empty()) {
        wrong += 1;
        println!("{} passes {:?}, which it names", findings.worker, findings.missed());
    }
    println!("\n{} broken workers, {} rows, {wrong} wrong", all.len(), ROWS.len());
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
