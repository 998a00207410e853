//! Rows held against each other.

use super::judge::{Judged, Mark, mark};
use super::limits::{Limit, Limits};
use super::line::{Line, Spread};

/// How two rows are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// Rows of one program: the times of each round.
    Rounds,
    /// Rows of two programs, which ran at different times: each over its own floor.
    Floors,
}

/// A row, what it is held against, and what is promised.
#[derive(Debug, Clone, Copy)]
struct Pair {
    name: &'static str,
    row: &'static str,
    base: &'static str,
    how: How,
    limit: Option<Limit>,
}

/// P-14: sixteen slots cost a job at most twice what one does.
const fn gate_sixteen_slots() -> Option<Limit> {
    Some(Limit::new(2.0, 2.0))
}

/// Quick jobs wait hardly longer where others sleep.
const BESIDE: Option<Limit> = Some(Limit::new(2.0, 10.0));

const ALL: [Pair; 13] = [
    rounds("slots/bare/ct/1-16", "bare/ct/1-16", "bare/ct/1-1", gate_sixteen_slots()),
    rounds("slots/bare/mt2/1-16", "bare/mt2/1-16", "bare/mt2/1-1", gate_sixteen_slots()),
    rounds("slots/stack/ct/1-16", "stack/ct/1-16", "stack/ct/1-1", gate_sixteen_slots()),
    rounds("slots/stack/mt2/1-16", "stack/mt2/1-16", "stack/mt2/1-1", gate_sixteen_slots()),
    rounds("flat/backlog", "backlog/10000000", "backlog/1", Some(Limit::new(1.5, 3.0))),
    rounds("beside/sleeper/ct", "wait/sleeper/ct/p99", "wait/steady/ct/p99", BESIDE),
    rounds("beside/sleeper/mt2", "wait/sleeper/mt2/p99", "wait/steady/mt2/p99", BESIDE),
    rounds("told/log/ct", "log/on/ct/1-4", "log/off/ct/1-4", None),
    rounds("told/log/mt2", "log/on/mt2/1-4", "log/off/mt2/1-4", None),
    // At least four and fifteen times as fast; three times where it fails.
    floors("ours/spawn/ct", "stack/ct/1-4", "spawn/ct/1-4", Some(Limit::new(0.25, 0.33))),
    floors("ours/spawn/mt2", "stack/mt2/1-4", "spawn/mt2/1-4", Some(Limit::new(0.067, 0.33))),
    floors("ours/semaphore/ct", "stack/ct/1-4", "semaphore/ct/1-4", None),
    floors("ours/semaphore/mt2", "stack/mt2/1-4", "semaphore/mt2/1-4", None),
];

const fn rounds(name: &'static str, row: &'static str, base: &'static str, limit: Option<Limit>) -> Pair {
    Pair { name, row, base, how: How::Rounds, limit }
}

const fn floors(name: &'static str, row: &'static str, base: &'static str, limit: Option<Limit>) -> Pair {
    Pair { name, row, base, how: How::Floors, limit }
}

/// Those of which both rows were measured.
pub(super) fn all(lines: &[Line]) -> impl Iterator<Item = Judged> {
    ALL.iter().filter_map(move |pair| {
        let find = |name| lines.iter().find(|line| line.row == name);
        Some(compare(*pair, find(pair.row)?, find(pair.base)?))
    })
}

fn compare(pair: Pair, row: &Line, base: &Line) -> Judged {
    let (ratio, runs) = match pair.how {
        How::Rounds => by_round(row, base),
        How::Floors => over_floors(row, base),
    };
    let limits = Limits { ratio: pair.limit, ..Limits::default() };
    let mark = if pair.limit.is_some() && 2 * runs < base.rounds {
        Mark::Noisy
    } else {
        mark(pair.limit, ratio.map(|ratio| ratio.median))
    };
    Judged {
        name: pair.name.to_owned(),
        runs: Some((runs, base.rounds)),
        ns: row.spread(|sample| Some(sample.ns)),
        floor: Some(pair.base.to_owned()).zip(base.spread(|sample| Some(sample.ns))),
        ratio,
        limits,
        mark,
        ..Judged::default()
    }
}

/// Runs of different rounds say nothing of each other.
fn by_round(row: &Line, base: &Line) -> (Option<Spread>, u64) {
    let pairs = row.samples.iter().filter_map(|many| {
        let few = base.samples.iter().find(|few| few.round == many.round)?;
        Some(many.ns / few.ns)
    });
    let pairs: Vec<f64> = pairs.collect();
    let runs = pairs.len() as u64;
    (Spread::of(pairs), runs)
}

fn over_floors(row: &Line, base: &Line) -> (Option<Spread>, u64) {
    let spread = |line: &Line| line.spread(|sample| Some(sample.ns / sample.floor?));
    let ratio = spread(row).zip(spread(base)).map(|(row, base)| Spread {
        min: row.min / base.max,
        median: row.median / base.median,
        max: row.max / base.min,
    });
    (ratio, row.samples.len().min(base.samples.len()) as u64)
}

#[cfg(test)]
mod tests {
    use super::super::judge::Mark;
    use super::super::line::{Line, Sample};
    use super::all;

    fn line(row: &str, ns: f64, floor: f64) -> Line {
        let samples = (0..3).map(|round| Sample { round, ns, floor: Some(floor), cores: Some(1.0) });
        Line { row: row.to_owned(), rounds: 3, samples: samples.collect(), ..Line::default() }
    }

    fn marks(lines: &[Line]) -> Vec<Mark> {
        all(lines).map(|row| row.mark).collect()
    }

    #[test]
    fn slots_are_compared_within_a_round() {
        let lines = |sixteen| [line("bare/ct/1-1", 10.0, 10.0), line("bare/ct/1-16", sixteen, 10.0)];
        assert_eq!(marks(&lines(15.0)), [Mark::Met]);
        assert_eq!(marks(&lines(21.0)), [Mark::Missed]);
        // Runs of different rounds say nothing of each other.
        let mut apart = lines(21.0);
        apart[1].samples.iter_mut().for_each(|sample| sample.round += 10);
        assert_eq!(marks(&apart), [Mark::Noisy]);
    }

    #[test]
    fn programs_are_compared_over_their_floors() {
        // The machine was twice as slow when the second ran: 3x against 30x, whatever the times are.
        let lines = [line("stack/ct/1-4", 30.0, 10.0), line("spawn/ct/1-4", 600.0, 20.0)];
        let found: Vec<_> = all(&lines).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].ratio.map(|ratio| (ratio.median * 1_000.0).round()), Some(100.0));
        assert_eq!(found[0].mark, Mark::Met);
    }

    #[test]
    fn half_a_pair_is_none() {
        assert_eq!(marks(&[line("backlog/1", 10.0, 10.0)]), []);
    }
}
