//! Instructions a job against what was stored: more than 2 % over fails.
//!
//! Another compiler makes other code, so the values hold for the one that they were counted with.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::Done;
use crate::command::{Failure, Verdict};
use crate::{bench, cargo};

/// How much more is let through, as a factor: callgrind repeats to some instructions in millions.
const TOLERANCE: f64 = 1.02;

/// What was counted, and with which compiler.
#[derive(Debug, Default, PartialEq)]
struct Stored {
    compiler: String,
    rows: Vec<(String, f64)>,
}

pub(super) fn run() -> Result<Done, Failure> {
    let text = fs::read_to_string(file()).map_err(|error| Failure::new(format!("{}: {error}", file().display())))?;
    let stored = Stored::read(&text)?;
    let compiler = compiler()?;
    if compiler != stored.compiler {
        let why = format!("the values are of `{}`, this is `{compiler}`", stored.compiler);
        return Ok(Done::LeftOut(why));
    }
    let rows = bench::instructions()?;
    if rows.is_empty() {
        return Ok(Done::LeftOut("there is no valgrind".to_owned()));
    }
    let over = compare(&stored.rows, &rows);
    for (row, value) in &rows {
        println!("{row}: {value:.1}");
    }
    if over.is_empty() {
        Ok(Done::Well(format!("{} rows within 2 %", rows.len())))
    } else {
        Err(Failure::new(over.join("; ")))
    }
}

/// Counts, and stores what was counted.
pub(super) fn store() -> Verdict {
    let rows = bench::instructions()?;
    if rows.is_empty() {
        return Err(Failure::new("there is no valgrind: nothing was counted"));
    }
    let stored = Stored { compiler: compiler()?, rows };
    fs::write(file(), stored.write()).map_err(|error| Failure::new(format!("{}: {error}", file().display())))?;
    Ok(format!("{} rows stored in {}", stored.rows.len(), file().display()))
}

fn file() -> PathBuf {
    cargo::workspace().join("bench/instructions.txt")
}

fn compiler() -> Result<String, Failure> {
    let output = Command::new("rustc").arg("--version").current_dir(cargo::workspace()).output();
    let output = output.map_err(|error| Failure::new(format!("rustc: {error}")))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// What is wrong with the new rows: too many instructions, or a stored row that was not counted.
fn compare(stored: &[(String, f64)], rows: &[(String, f64)]) -> Vec<String> {
    let wrong = |(row, value): &(String, f64)| match rows.iter().find(|(name, _)| name == row) {
        None => Some(format!("{row} was not counted")),
        Some((_, now)) if *now > value * TOLERANCE => {
            Some(format!("{row}: {now:.1}, {:+.1} % over {value:.1}", (now / value - 1.0) * 100.0))
        }
        Some(_) => None,
    };
    stored.iter().filter_map(wrong).collect()
}

impl Stored {
    /// A comment, the compiler, then a row and its value a line.
    fn write(&self) -> String {
        let rows: String = self.rows.iter().map(|(row, value)| format!("{row} {value:.1}\n")).collect();
        let comment = "# Instructions a job. `cargo xtask release-check --store` writes this file.";
        format!("{comment}\n{}\n{rows}", self.compiler)
    }

    fn read(text: &str) -> Result<Self, Failure> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let compiler = lines.next().unwrap_or_default().to_owned();
        let row = |line: &str| {
            let (row, value) = line.rsplit_once(' ')?;
            Some((row.to_owned(), value.parse().ok()?))
        };
        let rows: Option<Vec<_>> = lines.map(row).collect();
        match rows {
            Some(rows) if !rows.is_empty() => Ok(Self { compiler, rows }),
            _ => Err(Failure::new("the stored instructions cannot be read: `--store` writes them anew")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Stored, compare};

    fn rows(values: &[(&str, f64)]) -> Vec<(String, f64)> {
        values.iter().map(|&(row, value)| (row.to_owned(), value)).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let stored = Stored { compiler: "rustc 1.0.0 (x)".to_owned(), rows: rows(&[("a/b", 170.5), ("c", 3.0)]) };
        assert_eq!(Stored::read(&stored.write()).unwrap(), stored);
        assert!(Stored::read("rustc\n").is_err() && Stored::read("rustc\na b\n").is_err());
    }

    #[test]
    fn more_than_two_percent_or_nothing_is_wrong() {
        let stored = rows(&[("a", 100.0), ("b", 100.0)]);
        assert!(compare(&stored, &rows(&[("a", 101.9), ("b", 50.0), ("new", 1.0)])).is_empty());
        assert_eq!(compare(&stored, &rows(&[("a", 103.0)])), ["a: 103.0, +3.0 % over 100.0", "b was not counted"]);
    }
}
