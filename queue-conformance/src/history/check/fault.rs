//! Kills, cuts and ends.

use std::ops::{Index, IndexMut};

use super::job::Cause;
use super::process::Process;
use super::{At, Checker, Violation};
use crate::history::event::{Cut, Killed};
use crate::history::read::LogError;

/// A kill or a cut.
pub(super) struct Fault {
    pub(super) line: u64,
    pub(super) ms: Option<u64>,
    pub(super) is_kill: bool,
    /// How many duplicates it explains.
    pub(super) explains: u64,
}

#[derive(Default)]
pub(super) struct Faults {
    all: Vec<Fault>,
    /// Where deliveries may have come back unseen: from a line to a line.
    disturbed: Vec<(u64, u64)>,
    /// The last cut of all processes.
    pub(super) cut: Option<usize>,
}

impl Faults {
    fn add(&mut self, at: At, is_kill: bool) -> usize {
        self.all.push(Fault { line: at.line, ms: at.ms, is_kill, explains: 0 });
        self.all.len() - 1
    }

    pub(super) fn disturbed(&mut self, from: u64, to: u64) {
        self.disturbed.push((from, to));
    }

    pub(super) fn all(&self) -> &[Fault] {
        &self.all
    }

    /// Makes the disturbances ready to be asked.
    pub(super) fn finish(&mut self) {
        self.disturbed.sort_unstable();
        let mut latest = 0;
        for (_, to) in &mut self.disturbed {
            latest = latest.max(*to);
            *to = latest;
        }
    }

    /// Whether anything was disturbed from a line to a line. Asked once all are known.
    pub(super) fn within(&self, from: u64, to: u64) -> bool {
        let begun = self.disturbed.partition_point(|(start, _)| *start <= to);
        begun > 0 && self.disturbed[begun - 1].1 >= from
    }
}

impl Index<usize> for Faults {
    type Output = Fault;

    fn index(&self, at: usize) -> &Fault {
        &self.all[at]
    }
}

impl IndexMut<usize> for Faults {
    fn index_mut(&mut self, at: usize) -> &mut Fault {
        &mut self.all[at]
    }
}

impl Checker {
    pub(super) fn kill(&mut self, at: At, killed: &Killed<'_>) -> Result<(), LogError> {
        self.counts.kills += 1;
        let victim = self.processes.named(&killed.process, at.line)?;
        if victim == at.process {
            return Err(at.contradicts("a process cannot note that it was killed itself"));
        }
        let process = &mut self.processes[victim];
        if let Some(ended) = process.ended.replace(at.line) {
            return Err(at.contradicts(format!("that process ended at line {ended} already")));
        }
        let fault = self.faults.add(at, true);
        process.fault = Some(fault);
        // What it did last was noted there: the kill came between that and now.
        let last = process.last_line;
        self.faults.disturbed(last, at.line);
        let asked = std::mem::take(&mut self.processes[victim].asked);
        self.haunt(asked.into_values().collect());
        let Process { open, .. } = &mut self.processes[victim];
        let mut open: Vec<_> = std::mem::take(open).into_iter().collect();
        open.sort_unstable_by_key(|(d, _)| *d);
        for (d, open) in open {
            self.jobs[open.job].closed(victim, d);
            if let Some(pending) = open.pending {
                self.unanswered(open.job, open.line, pending, Cause::Fault(fault));
            }
            if !open.excused {
                self.excuse(open.job, open.line, Cause::Fault(fault));
            }
        }
        Ok(())
    }

    pub(super) fn cut(&mut self, at: At, cut: &Cut<'_>) -> Result<(), LogError> {
        self.counts.cuts += 1;
        let fault = self.faults.add(at, false);
        self.faults.disturbed(at.line, at.line);
        let processes = match &cut.process {
            Some(name) => {
                let one = self.processes.named(name, at.line)?;
                one..one + 1
            }
            None => {
                self.faults.cut = Some(fault);
                0..self.processes.len()
            }
        };
        for process in processes {
            let process = &mut self.processes[process];
            process.fault = Some(fault);
            let fresh = process.open.iter_mut().filter(|(_, open)| !open.excused);
            let mut again: Vec<_> =
                fresh.map(|(_, open)| (std::mem::replace(&mut open.excused, true), open.line, open.job)).collect();
            again.sort_unstable_by_key(|(_, line, _)| *line);
            for (_, line, job) in again {
                self.excuse(job, line, Cause::Fault(fault));
            }
        }
        Ok(())
    }

    pub(super) fn close(&mut self, at: At) -> Result<(), LogError> {
        let process = &mut self.processes[at.process];
        process.ended = Some(at.line);
        let (publishes, deliveries) = (process.asked.len() as u64, process.open.len() as u64);
        // What it had fetched and never handed out went back unseen.
        self.faults.disturbed(at.line, at.line);
        if publishes + deliveries > 0 {
            self.found.add(Violation::LeftOpen { publishes, deliveries, line: at.line });
        }
        Ok(())
    }
}
