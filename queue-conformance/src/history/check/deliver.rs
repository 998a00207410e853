//! The way out: what explains a delivery, and what it must keep.

use super::job::{Cause, Debt, Due, Ended, Low};
use super::process::Open;
use super::{At, Checker, Violation};
use crate::history::event::{Delivered, Left, Place, Replayed};
use crate::history::read::LogError;

impl Checker {
    pub(super) fn deliver(&mut self, at: At, delivered: &Delivered) -> Result<(), LogError> {
        self.counts.delivered += 1;
        let process = &mut self.processes[at.process];
        let d = delivered.d;
        if let Some(line) = process.open.get(&d).map(|open| open.line).or_else(|| Some(process.closed.get(&d)?.line)) {
            return Err(at.contradicts(format!("delivery {d} of its process was handed out before (line {line})")));
        }
        let index = self.jobs.of(delivered.id.0);
        self.take_copy(at, index, true);
        self.attempt(at, index, delivered.a);
        self.fence(at, index, delivered.fence);
        let job = &mut self.jobs[index];
        job.last = at.line;
        if job.first == 0 {
            (job.first, job.first_ms, job.first_attempt) = (at.line, at.ms.unwrap_or(0), delivered.a);
            self.in_order(index);
        }
        self.jobs[index].opened(at.process, d);
        let open = Open {
            job: index,
            line: at.line,
            attempt: delivered.a,
            runs: None,
            end: None,
            pending: None,
            excused: false,
        };
        self.processes[at.process].open.insert(d, open);
        Ok(())
    }

    /// One copy of the job leaves the broker, or is found there at the end: something must explain that it was there.
    fn take_copy(&mut self, at: At, index: usize, delivered: bool) {
        let job = &mut self.jobs[index];
        if job.copies > 0 {
            job.copies -= 1;
            // With more copies than one nobody knows which of them had to wait.
            let alone = job.copies == 0 && job.open.is_empty();
            let due = job.if_rare().and_then(|rare| rare.due.take());
            if let Some(due) = due.filter(|_| alone && delivered) {
                self.in_time(index, due, at);
            }
            return;
        }
        if let Some(cause) = job.if_rare().and_then(|rare| rare.credits.pop()) {
            self.explained(cause, at.ms);
            return;
        }
        let first_open = job.open.first().copied();
        let open = first_open.and_then(|(process, d)| Some(self.processes[process].open.get(&d)?.line));
        let acked = (job.acked > 0).then_some((job.acked_by as usize, job.acked));
        let debt = Debt { line: at.line, before: job.last, open: open.filter(|_| delivered), acked };
        job.rare().debts.push(debt);
    }

    /// A fault says that a delivery, handed out at `since`, may come again: it pays a debt made after that, or the next delivery.
    pub(super) fn excuse(&mut self, index: usize, since: u64, cause: Cause) {
        let rare = self.jobs[index].rare();
        match rare.debts.iter().position(|debt| debt.line > since) {
            Some(at) => {
                rare.debts.remove(at);
                self.explained(cause, None);
            }
            None => rare.credits.push(cause),
        }
    }

    /// A duplicate that `cause` explains. Without a time it came before the cause was noted.
    pub(super) fn explained(&mut self, cause: Cause, ms: Option<u64>) {
        self.counts.duplicates += 1;
        match cause {
            Cause::Fault(number) => {
                let fault = &mut self.faults[number];
                fault.explains += 1;
                if let (true, Some(killed)) = (fault.is_kill, fault.ms) {
                    let gap = ms.map_or(0, |ms| ms.saturating_sub(killed));
                    self.redelivery_ms = self.redelivery_ms.max(Some(gap));
                }
            }
            Cause::Line(event) if self.claims.duplicates == Some(0) => {
                self.found.add(Violation::TooManyDuplicates { event, found: 1, bound: 0 });
            }
            Cause::Line(_) => {}
        }
    }

    fn attempt(&mut self, at: At, index: usize, attempt: u32) {
        let job = &mut self.jobs[index];
        if attempt < job.floor && job.first > 0 {
            let low = Low { attempt, least: job.floor, line: at.line, after_retry: attempt == job.retried };
            job.rare().low.get_or_insert(low);
        }
        job.floor = job.floor.max(attempt);
    }

    fn fence(&mut self, at: At, index: usize, fence: Option<u64>) {
        let (Some(fence), job) = (fence, &mut self.jobs[index]) else { return };
        let before = job.rare().fence.replace(fence);
        if let Some(before) = before.filter(|before| *before >= fence) {
            self.found.add(Violation::FenceFell { job: job.id(), fence, before, line: at.line });
        }
    }

    /// Holds a delivery to the time before which it must not come, as far as the clocks can be trusted.
    pub(super) fn in_time(&mut self, index: usize, due: Due, at: At) {
        let Some(early_ms) = at.ms.and_then(|ms| due.ms.checked_sub(ms)).filter(|early| *early > 0) else { return };
        if self.last_back > due.asked {
            self.counts.unjudged += 1;
            return;
        }
        let job = self.jobs[index].id();
        self.found.add(Violation::EarlyDelivery { job, asked: due.asked, early_ms, line: at.line });
    }

    pub(super) fn replay(&mut self, id: u64) -> Result<(), LogError> {
        let index = self.jobs.of(id);
        let job = &mut self.jobs[index];
        // As a job that was never tried: the job may come before the answer does.
        job.copies += 1;
        job.more_acks += 1;
        job.floor = 1;
        if let Some(rare) = job.if_rare() {
            rare.due = None;
        }
        job.ended = Ended::No;
        Ok(())
    }

    pub(super) fn replayed(&mut self, replayed: &Replayed) -> Result<(), LogError> {
        let index = self.jobs.of(replayed.id.0);
        if replayed.done {
            self.counts.replayed += 1;
        } else {
            let job = &mut self.jobs[index];
            job.take_back();
            job.end(Ended::Dead);
        }
        Ok(())
    }

    pub(super) fn discard(&mut self, at: At, id: u64) -> Result<(), LogError> {
        let index = self.jobs.of(id);
        let job = &mut self.jobs[index];
        job.last = job.last.max(at.line);
        job.end(Ended::Discarded);
        Ok(())
    }

    pub(super) fn cancel(&mut self, at: At, id: u64) -> Result<(), LogError> {
        self.counts.cancelled += 1;
        let index = self.jobs.of(id);
        self.rests(at, index, Ended::Cancelled);
        Ok(())
    }

    pub(super) fn left(&mut self, at: At, left: &Left) -> Result<(), LogError> {
        self.counts.left += 1;
        let index = self.jobs.of(left.id.0);
        let how = match left.place {
            Place::Waiting | Place::Delayed | Place::HandedOver => Ended::Left,
            Place::Dead => Ended::Dead,
            Place::Cancelled => Ended::Cancelled,
        };
        // A dead letter or a cancel that the log has seen is no copy more.
        if how == Ended::Left || self.jobs[index].ended != how {
            self.rests(at, index, how);
        }
        Ok(())
    }

    /// A copy that is not delivered any more.
    fn rests(&mut self, at: At, index: usize, how: Ended) {
        self.take_copy(at, index, false);
        let job = &mut self.jobs[index];
        job.end(how);
        if job.last == 0 {
            job.last = at.line;
        }
    }
}
