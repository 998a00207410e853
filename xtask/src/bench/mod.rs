//! `cargo xtask bench`: is the queue as fast as it was promised to be, on the machine at hand?
//!
//! The programs of the crate `bench` measure; [`programs`] builds and runs them, [`mod@instructions`] counts with callgrind, [`mod@line`] is what was
//! seen of a row, [`limits`] what is promised of it, [`judge`] holds one against the other and [`pairs`] rows against each other, [`table`]
//! and [`charts`] show it, [`report`] writes it down, and [`host`] says where.

mod charts;
mod host;
mod instructions;
mod judge;
mod limits;
mod line;
mod options;
mod pairs;
mod programs;
mod report;
mod table;

use crate::command::{Failure, Verdict};
use host::Host;
use judge::{Judged, Mark};
use options::Options;

/// Instructions a job, by row; none where there is no valgrind.
///
/// # Errors
/// A program failed.
pub(crate) fn instructions() -> Result<Vec<(String, f64)>, Failure> {
    let lines = instructions::count(&programs::build()?, &Options::default())?;
    Ok(lines.into_iter().filter_map(|line| Some((line.row, line.instructions?))).collect())
}

/// Measures, prints the table and judges it.
///
/// # Errors
/// Code 1: a limit was missed, or a program failed. Code 2: over a third of the rows was too noisy to be judged.
pub(crate) fn run(rest: &[String]) -> Verdict {
    let Some(options) = Options::read(rest)? else { return Ok(options::HELP.to_owned()) };
    let host = Host::read();
    println!("{host}");
    let programs = programs::build()?;
    let mut lines = programs::run(&programs, &options)?;
    if !options.quick {
        lines.extend(instructions::count(&programs, &options)?);
    }
    if lines.is_empty() {
        return Err(Failure::new("no row has such a name"));
    }
    let rows = judge::all(&lines, options.quick);
    print!("{}", table::plain(&rows));
    if let Some(file) = &options.json {
        report::json(file, &host, &lines, &rows)?;
    }
    if options.write {
        report::write(&host, &rows)?;
    }
    verdict(&rows)
}

/// The last line.
fn verdict(rows: &[Judged]) -> Verdict {
    let count = |mark| rows.iter().filter(|row| row.mark == mark).count();
    let (missed, noisy, slow) = (count(Mark::Missed), count(Mark::Noisy), count(Mark::OverTarget));
    if missed > 0 {
        let names: Vec<_> = rows.iter().filter(|row| row.mark == Mark::Missed).map(|row| row.name.as_str()).collect();
        return Err(Failure::new(format!("{missed} of {} rows missed a limit: {}", rows.len(), names.join(", "))));
    }
    let promised = rows.len() - count(Mark::Shown);
    if 3 * noisy > promised {
        let reason = format!("{noisy} of {promised} rows were too noisy to be judged: try on a quiet machine");
        return Err(Failure::with_code(2, reason));
    }
    Ok(format!("{} rows, {slow} over their target, {noisy} too noisy, no limit missed", rows.len()))
}

#[cfg(test)]
mod tests {
    use super::judge::{Judged, Mark};
    use super::verdict;

    fn rows(marks: &[Mark]) -> Vec<Judged> {
        marks.iter().map(|&mark| Judged { name: "row".to_owned(), mark, ..Judged::default() }).collect()
    }

    #[test]
    fn a_missed_limit_is_1_and_a_third_of_noise_is_2() {
        let code = |marks: &[Mark]| verdict(&rows(marks)).map_or_else(|failure| failure.code(), |_| 0);
        assert_eq!(code(&[Mark::Met, Mark::OverTarget, Mark::Noisy]), 0);
        assert_eq!(code(&[Mark::Met, Mark::Noisy]), 2);
        assert_eq!(code(&[Mark::Missed, Mark::Noisy, Mark::Noisy]), 1);
    }
}
