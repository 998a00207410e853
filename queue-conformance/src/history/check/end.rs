//! The end of the log: what is still open, and what was never explained.

use super::job::{Cause, Debt, Ended};
use super::process::Asked;
use super::{Checker, Report, Violation};
use crate::history::claims::Acks;
use crate::history::read::Torn;

impl Checker {
    /// Publishes that have no answer: they may have happened.
    pub(super) fn haunt(&mut self, asked: Vec<Asked>) {
        for asked in asked {
            self.counts.unanswered += 1;
            match asked.id {
                // Sent again under an id that is known.
                Some(id) => {
                    let index = self.jobs.of(id);
                    self.sent(index, asked);
                }
                None => self.ghosts.entry(asked.print).or_default().push(asked.line),
            }
        }
    }

    pub(super) fn end(mut self, torn: Torn) -> Report {
        self.faults.finish();
        for process in 0..self.processes.len() {
            let asked = std::mem::take(&mut self.processes[process].asked);
            self.haunt(asked.into_values().collect());
        }
        self.adopt();
        for index in 0..self.jobs.len() {
            if self.jobs[index].is_known() {
                self.judge_debts(index);
                self.judge_end(index);
                self.judge_attempts(index);
            } else {
                self.unknown(index);
            }
        }
        self.judge_order();
        self.judge_bound();
        self.counts.processes = self.processes.len() as u64;
        Report {
            claims: self.claims,
            counts: self.counts,
            violations: self.found.0.into_values().collect(),
            redelivery_ms: self.redelivery_ms,
            torn: torn.count(),
            torn_last: torn.last,
            clock_back: self.clock_back,
        }
    }

    /// Gives each job that nobody published a publish without an answer: by its content; one that no handler got by any that is left.
    fn adopt(&mut self) {
        if self.ghosts.is_empty() {
            return;
        }
        let unknown = |checker: &Self| (0..checker.jobs.len()).filter(|at| !checker.jobs[*at].is_known()).collect();
        let jobs: Vec<usize> = unknown(self);
        for index in jobs {
            let Some((print, _)) = self.jobs[index].if_rare().and_then(|rare| rare.seen) else { continue };
            if let Some(line) = self.ghosts.get_mut(&print).and_then(Vec::pop) {
                self.happened(index, line);
            }
        }
        let jobs: Vec<usize> = unknown(self);
        let mut left: Vec<u64> = std::mem::take(&mut self.ghosts).into_values().flatten().collect();
        for index in jobs {
            if self.jobs[index].if_rare().is_none_or(|rare| rare.seen.is_none()) {
                let Some(line) = left.pop() else { return };
                self.happened(index, line);
            }
        }
    }

    fn happened(&mut self, index: usize, line: u64) {
        self.counts.happened += 1;
        let job = &mut self.jobs[index];
        job.asked = line;
        job.send();
    }

    /// A job that nobody published.
    fn unknown(&mut self, index: usize) {
        let job = &mut self.jobs[index];
        let (id, line) = (job.id(), job.appeared());
        if line == 0 {
            // Somebody asked for it by its id, and it never came.
            return;
        }
        let seen = job.if_rare().and_then(|rare| rare.seen);
        let refused = seen.and_then(|(print, _)| self.refused.get(&print));
        self.found.add(match refused {
            Some(refused) => Violation::RefusedDelivered { job: id, refused: *refused, line },
            None => Violation::Invented { job: id, line },
        });
    }

    fn judge_debts(&mut self, index: usize) {
        let Some(rare) = self.jobs[index].if_rare() else { return };
        for debt in std::mem::take(&mut rare.debts) {
            if let Some(fault) = self.undone(&debt) {
                self.jobs[index].more_acks += 1;
                self.explained(Cause::Fault(fault), None);
                continue;
            }
            self.counts.unexplained += 1;
            let job = self.jobs[index].id();
            self.found.add(match debt.open {
                Some(first) => Violation::TwoOpen { job, first, line: debt.line },
                None => Violation::Duplicate { job, before: debt.before, line: debt.line },
            });
        }
    }

    /// The fault that undid an ack, where acks may be undone.
    fn undone(&self, debt: &Debt) -> Option<usize> {
        let (process, acked) = debt.acked.filter(|_| self.claims.acks == Acks::Lazy)?;
        let faults = [self.processes[process].fault, self.faults.cut];
        faults.into_iter().flatten().find(|fault| self.faults[*fault].line > acked)
    }

    fn judge_end(&mut self, index: usize) {
        let job = &self.jobs[index];
        if job.confirmed > 0 && job.ended == Ended::No {
            self.found.add(Violation::Lost { job: job.id(), confirmed: job.confirmed, delivered: job.last });
        }
        let allowed = job.sent.saturating_add(job.more_acks);
        if job.acks > allowed {
            self.found.add(Violation::AckedTwice { job: job.id(), acks: job.acks, allowed, line: job.acked });
        }
    }

    fn judge_attempts(&mut self, index: usize) {
        let job = &mut self.jobs[index];
        let (id, forked) = (job.id(), job.forked);
        let (attempt, asked, first) = (job.first_attempt, job.asked, job.first);
        let low = job.if_rare().and_then(|rare| rare.low.take()).filter(|_| !forked);
        if let Some(low) = low {
            let (attempt, line) = (low.attempt, low.line);
            self.found.add(if low.after_retry {
                Violation::AttemptKept { job: id, attempt, line }
            } else {
                Violation::AttemptFell { job: id, attempt, least: low.least, line }
            });
        }
        if first > 0 && (attempt > 1 && !self.faults.within(asked, first) || attempt == 0) {
            self.found.add(Violation::FirstAttempt { job: id, attempt, line: first });
        }
    }

    fn judge_bound(&mut self) {
        let Some(bound) = self.claims.duplicates else { return };
        for fault in self.faults.all() {
            if fault.explains > bound {
                self.found.add(Violation::TooManyDuplicates { event: fault.line, found: fault.explains, bound });
            }
        }
    }
}
