//! Clean runs of rows, each between two readings of its floor.

use std::fmt::Write as _;
use std::time::Duration;

use crate::noise::Usage;
use crate::options::Task;
use crate::{Floor, Options, alloc};

/// How often a run is tried before the round goes without it.
const TRIES: usize = 5;

/// One line of the table.
pub struct Row<'a> {
    name: String,
    floor: Option<Floor>,
    jobs: u64,
    /// Of how many jobs allocations are counted; 0: they are not.
    counting: u64,
    /// Cores are timed, not the run.
    work: bool,
    run: Box<dyn FnMut(u64) -> Duration + 'a>,
}

impl<'a> Row<'a> {
    /// A row that `run`s so many jobs (or operations) at a time, checks that they did what they should, and answers how long they took.
    #[must_use]
    pub fn new(name: impl Into<String>, jobs: u64, run: impl FnMut(u64) -> Duration + 'a) -> Self {
        Self { name: name.into(), floor: None, jobs, counting: 200_000, work: false, run: Box::new(run) }
    }

    /// Compared with `floor`, which is read before and after each run.
    #[must_use]
    pub const fn over(mut self, floor: Floor) -> Self {
        self.floor = Some(floor);
        self
    }

    /// Counts the allocations of so many jobs, where 200,000 would be too many or too few; of none, where it is 0.
    #[must_use]
    pub const fn counting(mut self, jobs: u64) -> Self {
        self.counting = jobs;
        self
    }

    /// For runs that mostly wait: what counts is how long cores worked.
    #[must_use]
    pub const fn work(mut self) -> Self {
        self.work = true;
        self
    }
}

impl std::fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Row").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A clean run.
#[derive(Debug)]
struct Sample {
    round: usize,
    /// Nanoseconds a job.
    ns: f64,
    /// Nanoseconds of the floor: the mean of before and after.
    floor: Option<f64>,
    /// How many cores were busy.
    cores: Option<f64>,
}

/// What was seen of a row.
#[derive(Debug, Default)]
struct Seen {
    samples: Vec<Sample>,
    /// How many runs were thrown away.
    dropped: usize,
    /// Allocations a job.
    allocs: Option<f64>,
}

/// Does what the command line says with these rows: prints a line of JSON a row, or makes one run.
pub fn measure(mut rows: Vec<Row<'_>>) {
    match Task::from_arguments() {
        Task::One { row, jobs } => {
            let row = rows.iter_mut().find(|other| other.name == row).expect("`one` names a row of this program");
            (row.run)(jobs);
        }
        Task::Measure(options) => {
            rows.retain(|row| options.selects(&row.name));
            let seen = take(&options, &mut rows);
            for (row, seen) in rows.iter().zip(seen) {
                println!("{}", line(&options, row, &seen));
            }
        }
    }
}

/// The rounds go through the rows forth and back, so that a machine that gets slower favours none.
fn take(options: &Options, rows: &mut [Row<'_>]) -> Vec<Seen> {
    let mut seen: Vec<Seen> =
        rows.iter_mut().map(|row| Seen { allocs: allocs(options, row), ..Seen::default() }).collect();
    for round in 0..options.rounds() {
        let mut order: Vec<_> = rows.iter_mut().zip(&mut seen).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for (row, seen) in order {
            sample(options, row, round, seen);
        }
    }
    seen
}

/// One run that nobody disturbed, if there is one.
fn sample(options: &Options, row: &mut Row<'_>, round: usize, seen: &mut Seen) {
    let jobs = options.scale(row.jobs);
    for _ in 0..TRIES {
        let before = row.floor.and_then(|floor| floor.clean(options));
        let earlier = Usage::now();
        let wall = (row.run)(jobs);
        let usage = Usage::now().since(earlier);
        let after = row.floor.and_then(|floor| floor.clean(options));
        let floor = before.zip(after).map(|(before, after)| f64::midpoint(before, after));
        if !usage.is_noisy(wall) && floor.is_some() == row.floor.is_some() {
            let ns = per_job(if row.work { usage.worked() } else { wall }, jobs);
            seen.samples.push(Sample { round, ns, floor, cores: Some(usage.cores(wall)) });
            return;
        }
        seen.dropped += 1;
    }
}

/// Allocations a job: what the second half of a run adds, so that what a run does once falls out. Warms up on the way.
///
/// The median of three, for a queue that grew in one of two runs (a list of sleepers) would show in their difference.
fn allocs(options: &Options, row: &mut Row<'_>) -> Option<f64> {
    let jobs = options.scale(if row.counting == 0 { row.jobs } else { row.counting });
    (row.run)(jobs);
    if row.counting == 0 {
        return None;
    }
    let mut count = |jobs| {
        let work = || {
            (row.run)(jobs);
        };
        as_f64(alloc::count(work))
    };
    let mut differences = [0.0; 3].map(|_: f64| count(jobs) - count(jobs / 2));
    differences.sort_by(f64::total_cmp);
    Some(differences[1] / as_f64(jobs / 2))
}

/// Nanoseconds a job.
pub(crate) fn per_job(wall: Duration, jobs: u64) -> f64 {
    wall.as_secs_f64() * 1e9 / as_f64(jobs.max(1))
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
const fn as_f64(number: u64) -> f64 {
    number as f64
}

/// What `xtask bench` reads. Names are ours and need no escape.
fn line(options: &Options, row: &Row<'_>, seen: &Seen) -> String {
    let number = |number: Option<f64>| number.map_or_else(|| "null".to_owned(), |number| format!("{number:.6}"));
    let mut samples = String::new();
    for Sample { round, ns, floor, cores } in &seen.samples {
        let comma = if samples.is_empty() { "" } else { "," };
        let (floor, cores) = (number(*floor), number(*cores));
        write!(samples, r#"{comma}{{"round":{round},"ns":{ns:.4},"floor":{floor},"cores":{cores}}}"#)
            .expect("a string takes everything");
    }
    format!(
        r#"{{"row":"{}","floor":{},"rounds":{},"dropped":{},"allocs":{},"samples":[{samples}]}}"#,
        row.name,
        row.floor.map_or_else(|| "null".to_owned(), |floor| format!(r#""{}""#, floor.name)),
        options.rounds(),
        seen.dropped,
        number(seen.allocs),
    )
}

/// The parts of the jobs, in percent, whose longest wait is a row.
const PARTS: [usize; 3] = [50, 90, 99];

/// How long jobs wait, in an open loop: one run gives a row for each part.
pub struct Waits<'a> {
    name: String,
    jobs: u64,
    run: Box<dyn FnMut(u64) -> Option<Vec<Duration>> + 'a>,
}

impl<'a> Waits<'a> {
    /// `run` answers with the waits of so many jobs; none where it could not keep to its schedule, which voids the run.
    #[must_use]
    pub fn new(name: impl Into<String>, jobs: u64, run: impl FnMut(u64) -> Option<Vec<Duration>> + 'a) -> Self {
        Self { name: name.into(), jobs, run: Box::new(run) }
    }
}

impl std::fmt::Debug for Waits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waits").field("name", &self.name).finish_non_exhaustive()
    }
}

/// As [`measure`], for waits.
pub fn measure_waits(mut all: Vec<Waits<'_>>) {
    let options = match Task::from_arguments() {
        Task::One { row, jobs } => {
            let waits = all.iter_mut().find(|other| row.starts_with(&other.name));
            (waits.expect("`one` names a row of this program").run)(jobs);
            return;
        }
        Task::Measure(options) => options,
    };
    for waits in &mut all {
        let rows = PARTS.map(|part| Row::new(format!("{}/p{part}", waits.name), waits.jobs, |_| Duration::ZERO));
        if rows.iter().any(|row| options.selects(&row.name)) {
            let seen = take_waits(&options, waits);
            for (row, seen) in rows.iter().zip(seen).filter(|(row, _)| options.selects(&row.name)) {
                println!("{}", line(&options, row, &seen));
            }
        }
    }
}

fn take_waits(options: &Options, waits: &mut Waits<'_>) -> [Seen; PARTS.len()] {
    let mut seen = [(); PARTS.len()].map(|()| Seen::default());
    for round in 0..options.rounds() {
        for _ in 0..TRIES {
            let Some(mut run) = (waits.run)(options.scale(waits.jobs)) else {
                seen.iter_mut().for_each(|seen| seen.dropped += 1);
                continue;
            };
            run.sort_unstable();
            for (part, seen) in PARTS.iter().zip(&mut seen) {
                let longest = run.get((run.len() * part / 100).min(run.len().saturating_sub(1)));
                let ns = longest.map_or(0.0, |wait| per_job(*wait, 1));
                seen.samples.push(Sample { round, ns, floor: None, cores: None });
            }
            break;
        }
    }
    seen
}
