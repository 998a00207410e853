//! The checker: one pass over the lines, then the end. What it holds in memory grows with jobs and deliveries, never with lines.

mod deliver;
mod end;
mod fault;
mod handler;
mod job;
mod order;
mod process;
mod publish;
mod report;
mod settle;
mod violation;

pub use report::{Counts, Report, Violations};
pub use violation::{Kind, Violation};

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use self::fault::Faults;
use self::job::Jobs;
use self::order::Sequence;
use self::process::Processes;
use super::claims::Claims;
use super::event::{Event, Line};
use super::read::{Lines, LogError};

/// Reads a log, and holds it to what its header claims.
///
/// ```
/// use queue_conformance::history::{Kind, check};
/// let log = r#"{"history":1}
/// {"p":"a","publish":{"n":1,"f":"00000000000000ff"}}
/// {"p":"a","confirmed":{"n":1,"id":"0000000000000001"}}
/// "#;
/// let report = check(log.as_bytes())?;
/// assert_eq!(report.count(Kind::Lost), 1);
/// assert!(report.to_string().contains("job 0000000000000001 was confirmed (line 3)"));
/// # Ok::<(), queue_conformance::history::LogError>(())
/// ```
///
/// # Errors
/// The log cannot be read: the error names the line, and what is known. A violation is no error.
pub fn check<R: BufRead>(reader: R) -> Result<Report, LogError> {
    let mut lines = Lines::new(reader);
    let mut checker = Checker::new(lines.claims()?);
    while lines.next(|number, line| checker.see(number, line))? {}
    let torn = lines.torn(checker.counts.kills)?;
    Ok(checker.end(torn))
}

/// What is known so far.
struct Checker {
    claims: Claims,
    counts: Counts,
    found: Found,
    jobs: Jobs,
    processes: Processes,
    faults: Faults,
    sequence: Sequence,
    /// Publishes without an answer, by fingerprint: their lines.
    ghosts: HashMap<u64, Vec<u64>>,
    /// Refused publishes, by fingerprint: the first line.
    refused: HashMap<u64, u64>,
    /// The first line at which a clock ran backwards, and by how many milliseconds.
    clock_back: Option<(u64, u64)>,
    /// The last such line.
    last_back: u64,
    redelivery_ms: Option<u64>,
}

/// Where an event stands.
#[derive(Clone, Copy)]
struct At {
    line: u64,
    ms: Option<u64>,
    process: usize,
}

impl At {
    fn contradicts(self, what: impl Into<Box<str>>) -> LogError {
        LogError::Contradiction { line: self.line, what: what.into() }
    }
}

/// The violations so far: of each kind the first few, and how many.
#[derive(Default)]
struct Found(BTreeMap<Kind, Violations>);

impl Found {
    fn add(&mut self, violation: Violation) {
        let kind = violation.kind();
        let of = self.0.entry(kind).or_insert_with(|| Violations { kind, total: 0, shown: Vec::new() });
        of.total += 1;
        if of.shown.len() < Report::SHOWN {
            of.shown.push(violation);
        }
    }
}

impl Checker {
    fn new(claims: Claims) -> Self {
        Self {
            claims,
            counts: Counts::default(),
            found: Found::default(),
            jobs: Jobs::default(),
            processes: Processes::default(),
            faults: Faults::default(),
            sequence: Sequence::new(claims.order),
            ghosts: HashMap::new(),
            refused: HashMap::new(),
            clock_back: None,
            last_back: 0,
            redelivery_ms: None,
        }
    }

    fn see(&mut self, number: u64, line: Line<'_>) -> Result<(), LogError> {
        let process = self.processes.named(&line.p, number)?;
        let at = At { line: number, ms: line.ms, process };
        self.counts.events += 1;
        if let Some(ended) = self.processes[process].ended {
            return Err(at.contradicts(format!(
                "its process ended at line {ended}; a process that is started again needs a new name"
            )));
        }
        self.tick(at);
        match line.event {
            Event::Publish(publish) => self.publish(at, &publish),
            Event::Confirmed(answered) => self.published(at, &answered, true),
            Event::Unconfirmed(answered) => self.published(at, &answered, false),
            Event::Refused(refused) => self.refuse(at, &refused),
            Event::Delivered(delivered) => self.deliver(at, &delivered),
            Event::Started(started) => self.start(at, &started),
            Event::Ended(ended) => self.finish(at, &ended),
            Event::Settle(settle) => self.ask(at, &settle),
            Event::Settled(settled) => self.settle(at, &settled),
            Event::Failed(delivery) => self.fail(at, delivery.d),
            Event::GaveUp(delivery) => self.give_up(at, delivery.d),
            Event::Replay(job) => self.replay(job.id.0),
            Event::Replayed(replayed) => self.replayed(&replayed),
            Event::Discarded(job) => self.discard(at, job.id.0),
            Event::Cancelled(job) => self.cancel(at, job.id.0),
            Event::Left(left) => self.left(at, &left),
            Event::Killed(killed) => self.kill(at, &killed),
            Event::Cut(cut) => self.cut(at, &cut),
            Event::Gate(_) => Ok(()),
            Event::Closed(_) => self.close(at),
        }
    }

    /// Follows the clock of one process: it only informs.
    fn tick(&mut self, at: At) {
        let process = &mut self.processes[at.process];
        process.last_line = at.line;
        if let Some(ms) = at.ms {
            let back = process.last_ms.saturating_sub(ms);
            process.last_ms = ms;
            if back > 0 {
                self.clock_back.get_or_insert((at.line, back));
                self.last_back = at.line;
            }
        }
    }
}
