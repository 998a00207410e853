//! What was seen, held against what is promised.

use super::limits::{self, Limit};
use super::line::{Line, Spread};
use super::pairs;

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub(super) enum Mark {
    /// Nothing is promised, or nothing was measured.
    #[default]
    Shown,
    Met,
    OverTarget,
    /// Too few clean runs.
    Noisy,
    Missed,
}

/// A row of the table.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub(super) name: String,
    /// Clean runs, of how many.
    pub(super) runs: Option<(u64, u64)>,
    /// Nanoseconds a job.
    pub(super) ns: Option<Spread>,
    pub(super) floor: Option<(String, Spread)>,
    pub(super) ratio: Option<Spread>,
    pub(super) cores: Option<f64>,
    pub(super) allocs: Option<f64>,
    pub(super) instructions: Option<f64>,
    pub(super) limits: limits::Limits,
    pub(super) mark: Mark,
}

/// All rows, those that compare two others last. Nothing is judged after a quick run.
pub(super) fn all(lines: &[Line], quick: bool) -> Vec<Judged> {
    let mut rows: Vec<_> = lines.iter().map(one).collect();
    rows.extend(pairs::all(lines));
    if quick {
        rows.iter_mut().for_each(|row| row.mark = Mark::Shown);
    }
    rows
}

fn one(line: &Line) -> Judged {
    let limits = limits::of(&line.row);
    let ratio = line.spread(|sample| Some(sample.ns / sample.floor?));
    let floor = line.floor.clone().zip(line.spread(|sample| sample.floor));
    // Counts repeat however noisy the machine is; only times need quiet.
    let counts = mark(limits.allocs, line.allocs).max(mark(limits.instructions, line.instructions));
    let times = if line.is_noisy() && limits.ratio.is_some() {
        Mark::Noisy
    } else {
        mark(limits.ratio, ratio.map(|ratio| ratio.median))
    };
    Judged {
        name: line.row.clone(),
        runs: (line.rounds > 0).then_some((line.samples.len() as u64, line.rounds)),
        ns: line.spread(|sample| Some(sample.ns)),
        floor,
        ratio,
        cores: line.spread(|sample| sample.cores).map(|cores| cores.median),
        allocs: line.allocs,
        instructions: line.instructions,
        limits,
        mark: times.max(counts),
    }
}

pub(super) fn mark(limit: Option<Limit>, seen: Option<f64>) -> Mark {
    let (Some(limit), Some(seen)) = (limit, seen) else { return Mark::Shown };
    if limit.gate.is_some_and(|gate| seen > gate) {
        Mark::Missed
    } else if seen > limit.target {
        Mark::OverTarget
    } else {
        Mark::Met
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::{Line, Sample};
    use super::{Mark, all};

    fn line(row: &str, ratio: f64, allocs: f64) -> Line {
        let samples = (0..3).map(|round| Sample { round, ns: 10.0 * ratio, floor: Some(10.0), cores: Some(1.0) });
        Line { row: row.to_owned(), rounds: 3, allocs: Some(allocs), samples: samples.collect(), ..Line::default() }
    }

    fn marks(lines: &[Line]) -> Vec<Mark> {
        all(lines, false).iter().map(|row| row.mark).collect()
    }

    #[test]
    fn a_ratio_meets_exceeds_or_misses() {
        assert_eq!(marks(&[line("bare/ct/1-4", 1.6, 0.0)]), [Mark::Met]);
        assert_eq!(marks(&[line("bare/ct/1-4", 2.0, 0.0)]), [Mark::OverTarget]);
        assert_eq!(marks(&[line("bare/ct/1-4", 4.6, 0.0)]), [Mark::Missed]);
        assert_eq!(marks(&[line("floor/C", 9.0, 0.0)]), [Mark::Shown]);
    }

    #[test]
    fn one_allocation_in_a_thousand_jobs_misses_on_any_machine() {
        let mut noisy = line("stack/mt2/1-4", 1.0, 0.001);
        noisy.samples.truncate(1);
        assert_eq!(marks(&[noisy]), [Mark::Missed]);
        assert_eq!(marks(&[line("dyn/ct/1-4", 1.0, 1.02)]), [Mark::Met]);
    }

    #[test]
    fn a_row_with_too_few_clean_runs_is_noisy_and_not_missed() {
        let mut row = line("bare/ct/1-4", 9.0, 0.0);
        row.samples.truncate(1);
        assert_eq!(marks(&[row]), [Mark::Noisy]);
    }

    #[test]
    fn a_quick_run_is_not_judged() {
        assert_eq!(all(&[line("bare/ct/1-4", 9.0, 9.0)], true)[0].mark, Mark::Shown);
    }
}
