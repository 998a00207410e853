//! Verdicts and their answers.

use super::job::{Cause, Due, Ended, Job, Low};
use super::process::{Closed, Closing, Open, Pending};
use super::{At, Checker, Violation};
use crate::history::event::{Ask, End, How, Settle, Settled};
use crate::history::read::LogError;

impl Checker {
    pub(super) fn ask(&mut self, at: At, settle: &Settle) -> Result<(), LogError> {
        if settle.v == Ask::Ack && self.claims.handlers {
            self.judge_ack(at, settle.d);
        }
        let process = &mut self.processes[at.process];
        let Some(open) = process.open.get_mut(&settle.d) else {
            if !process.closed.contains_key(&settle.d) {
                self.found.add(Violation::SettledUnknown { delivery: settle.d, line: at.line });
            }
            return Ok(());
        };
        if let Some(first) = open.pending {
            let what = format!("delivery {} has a verdict without an answer (line {})", settle.d, first.line);
            return Err(at.contradicts(what));
        }
        let job = &mut self.jobs[open.job];
        let mut waits = false;
        if matches!(settle.v, Ask::Retry | Ask::Return) {
            // The job may come before the answer does.
            job.copies += 1;
            if let (Some(after), Some(ms)) = (settle.after, at.ms) {
                waits = true;
                job.rare().due = Some(Due { ms: ms.saturating_add(after), asked: at.line });
            }
        }
        open.pending = Some(Pending { verdict: settle.v, line: at.line, waits });
        Ok(())
    }

    /// Holds an ack to the end of its handler.
    fn judge_ack(&mut self, at: At, d: u64) {
        self.own_run(at.process, d);
        let Some(open) = self.processes[at.process].open.get(&d) else { return };
        let job = self.jobs[open.job].id();
        match open.end.filter(|_| open.runs.is_none()) {
            Some(End::Ok) => {}
            Some(how) => self.found.add(Violation::AckOfFailure { job, how, line: at.line }),
            None => self.found.add(Violation::EarlyAck { job, delivered: open.line, line: at.line }),
        }
    }

    /// Of two deliveries of one attempt that a process has at once nobody can say which of them a handler runs: an ack tells. The run that
    /// ended well is that of the delivery which is acked.
    fn own_run(&mut self, process: usize, d: u64) {
        let open = &mut self.processes[process].open;
        let well = |open: &Open| open.runs.is_none() && open.end == Some(End::Ok);
        let Some(this) = open.get(&d).filter(|this| !well(this)) else { return };
        let (attempt, run) = (this.attempt, (this.runs, this.end));
        let others = self.jobs[this.job].open.iter().filter(|other| other.0 == process && other.1 != d);
        let found = others
            .map(|(_, other)| *other)
            .find(|other| open.get(other).is_some_and(|other| other.attempt == attempt && well(other)));
        if let Some(other) = found.and_then(|other| open.get_mut(&other)) {
            (other.runs, other.end) = run;
            if let Some(this) = open.get_mut(&d) {
                (this.runs, this.end) = (None, Some(End::Ok));
            }
        }
    }

    pub(super) fn settle(&mut self, at: At, settled: &Settled) -> Result<(), LogError> {
        let process = &mut self.processes[at.process];
        let Some(open) = process.open.get_mut(&settled.d) else {
            self.settle_closed(at, settled);
            return Ok(());
        };
        let Some(pending) = open.pending.take() else {
            return Err(at.contradicts(format!("delivery {} has no verdict that could be answered", settled.d)));
        };
        let job = &mut self.jobs[open.job];
        match settled.how {
            How::Done => self.done(at, settled.d, pending),
            How::Kept => take_back(job, pending),
            How::Gone => {
                take_back(job, pending);
                self.counts.gone += 1;
                // Only what would have to be handed out again can be gone: an ack or a dead letter needs no copy.
                if matches!(pending.verdict, Ask::Retry | Ask::Return) {
                    job.end(Ended::Gone);
                }
                self.end_delivery(at, settled.d, Closing::Done);
            }
            How::Lost => {
                self.counts.lost += 1;
                self.lose(at, settled.d, Some(pending));
            }
        }
        Ok(())
    }

    /// An answer for a delivery that is not open.
    fn settle_closed(&mut self, at: At, settled: &Settled) {
        let Some(closed) = self.processes[at.process].closed.get(&settled.d) else { return };
        if settled.how != How::Done {
            return;
        }
        let (job, line) = (self.jobs[closed.job].id(), at.line);
        self.found.add(match closed.how {
            Closing::Done => Violation::SettledTwice { job, first: closed.line, line },
            Closing::Lost => Violation::DoneAfterLoss { job, lost: closed.line, line },
        });
    }

    fn done(&mut self, at: At, d: u64, pending: Pending) {
        let Some(open) = self.end_delivery(at, d, Closing::Done) else { return };
        let job = &mut self.jobs[open.job];
        match pending.verdict {
            Ask::Ack => {
                self.counts.acked += 1;
                job.acks += 1;
                (job.acked, job.acked_by) = (at.line, at.process as u32);
                job.end(Ended::Acked);
            }
            Ask::Dead => {
                self.counts.dead += 1;
                job.end(Ended::Dead);
            }
            Ask::Return => self.counts.returned += 1,
            Ask::Retry => {
                self.counts.retried += 1;
                let least = open.attempt.saturating_add(1);
                // The retry itself came before this answer.
                if job.last > pending.line && job.floor < least {
                    let low = Low { attempt: open.attempt, least, line: job.last, after_retry: true };
                    job.rare().low.get_or_insert(low);
                }
                job.floor = job.floor.max(least);
                job.retried = open.attempt;
            }
        }
    }

    /// The broker has taken a delivery away, or nobody holds it any more: it may come again.
    fn lose(&mut self, at: At, d: u64, pending: Option<Pending>) {
        let Some(open) = self.end_delivery(at, d, Closing::Lost) else { return };
        self.faults.disturbed(at.line, at.line);
        let job = &mut self.jobs[open.job];
        let was_there = job.copies > 0;
        let copies = pending.is_some_and(|pending| matches!(pending.verdict, Ask::Retry | Ask::Return));
        if let Some(pending) = pending {
            take_back(job, pending);
        }
        if copies && !was_there {
            // The delivery that took the copy was the one that this loss explains.
            self.explained(Cause::Line(at.line), None);
        } else if !open.excused {
            self.excuse(open.job, open.line, Cause::Line(at.line));
        }
    }

    /// A settle without an answer: it may have been done.
    pub(super) fn fail(&mut self, at: At, d: u64) -> Result<(), LogError> {
        let Some(open) = self.processes[at.process].open.get_mut(&d) else {
            return Err(at.contradicts(format!("delivery {d} of its process is not open")));
        };
        let Some(pending) = open.pending.take() else {
            return Err(at.contradicts(format!("delivery {d} has no verdict that could fail")));
        };
        self.counts.failed += 1;
        self.faults.disturbed(at.line, at.line);
        let (index, since) = (open.job, open.line);
        // A copy that was made and the delivery itself are two; an ack or a dead letter makes none.
        open.excused |= matches!(pending.verdict, Ask::Ack | Ask::Dead);
        self.unanswered(index, since, pending, Cause::Line(at.line));
        if matches!(pending.verdict, Ask::Ack | Ask::Dead) {
            self.excuse(index, since, Cause::Line(at.line));
        }
        Ok(())
    }

    /// What a verdict that was never answered leaves open.
    pub(super) fn unanswered(&mut self, index: usize, since: u64, pending: Pending, cause: Cause) {
        let job = &mut self.jobs[index];
        job.more_acks += 1;
        job.forked |= pending.verdict != Ask::Ack;
        match pending.verdict {
            Ask::Ack | Ask::Dead => job.end(Ended::Perhaps),
            Ask::Retry | Ask::Return => {
                let there = job.copies > 0;
                take_back(job, pending);
                if there {
                    self.excuse(index, since, cause);
                }
            }
        }
    }

    pub(super) fn give_up(&mut self, at: At, d: u64) -> Result<(), LogError> {
        let Some(open) = self.processes[at.process].open.get_mut(&d) else {
            return Err(at.contradicts(format!("delivery {d} of its process is not open")));
        };
        self.counts.gave_up += 1;
        let (index, since, pending) = (open.job, open.line, open.pending.take());
        if let Some(pending) = pending {
            self.unanswered(index, since, pending, Cause::Line(at.line));
        }
        self.lose(at, d, None);
        Ok(())
    }

    /// The delivery is not open any more.
    fn end_delivery(&mut self, at: At, d: u64, how: Closing) -> Option<Open> {
        let process = &mut self.processes[at.process];
        let open = process.open.remove(&d)?;
        process.closed.insert(d, Closed { job: open.job, line: at.line, how });
        self.jobs[open.job].closed(at.process, d);
        Some(open)
    }
}

/// The copy that the verdict would have made is not there.
fn take_back(job: &mut Job, pending: Pending) {
    if matches!(pending.verdict, Ask::Retry | Ask::Return) {
        job.take_back();
    }
    if pending.waits
        && let Some(rare) = job.if_rare()
    {
        rare.due = None;
    }
}
