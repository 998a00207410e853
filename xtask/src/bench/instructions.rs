//! Instructions a job, as callgrind counts them: the same on every machine that runs the same code, however noisy it is.
//!
//! It sees no cache miss, no contention and no wake-up: it guards against growth, and proves no speed.

use std::process::Command;

use serde_json::json;

use super::line::Line;
use super::options::Options;
use super::programs::Program;
use crate::command::Failure;

/// Program and row.
const ROWS: [(&str, &str); 3] =
    [("bench-bare", "bare/ct/1-4"), ("bench-stack", "stack/ct/1-4"), ("bench-dyn", "dyn/ct/1-4")];

/// Two sizes: what a run does once falls out of the difference.
const JOBS: [u32; 2] = [20_000, 60_000];

/// The rows that are asked for; none where there is no valgrind.
pub(super) fn count(programs: &[Program], options: &Options) -> Result<Vec<Line>, Failure> {
    let mut lines = Vec::new();
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("no valgrind: instructions are not counted");
        return Ok(lines);
    }
    for (name, row) in ROWS {
        let title = format!("instructions/{row}");
        let Some(program) = programs.iter().find(|program| program.name == name) else { continue };
        if !options.selects(&title) {
            continue;
        }
        eprintln!("+ {title}");
        let [few, many] = JOBS.map(|jobs| collected(program, row, jobs));
        let per_job = (many? - few?) / f64::from(JOBS[1] - JOBS[0]);
        let raw = json!({ "row": title, "instructions": per_job });
        lines.push(Line { row: title, instructions: Some(per_job), raw, ..Line::default() });
    }
    Ok(lines)
}

/// Instructions of one run.
fn collected(program: &Program, row: &str, jobs: u32) -> Result<f64, Failure> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(&program.path).args(["one", row]).arg(jobs.to_string());
    let output = valgrind.output().map_err(|error| Failure::new(format!("valgrind: {error}")))?;
    let said = String::from_utf8_lossy(&output.stderr);
    parse(&said).filter(|_| output.status.success()).ok_or_else(|| Failure::new(format!("callgrind on {row}: {said}")))
}

fn parse(said: &str) -> Option<f64> {
    said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_count_is_found_in_what_callgrind_says() {
        assert_eq!(parse("==7== Events    : Ir\n==7== Collected : 14390964\n"), Some(14_390_964.0));
        assert_eq!(parse("==7== no such file"), None);
    }
}
