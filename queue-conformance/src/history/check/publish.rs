//! The way in.

use super::job::Due;
use super::process::Asked;
use super::{At, Checker, Violation};
use crate::history::event::{Answered, Publish, Refused};
use crate::history::read::LogError;

impl Checker {
    pub(super) fn publish(&mut self, at: At, publish: &Publish<'_>) -> Result<(), LogError> {
        self.counts.published += 1;
        let asked = Asked {
            line: at.line,
            ms: at.ms,
            print: publish.f.0,
            id: publish.id.map(|id| id.0),
            delay: publish.delay.unwrap_or(0),
            placed: self.sequence.place(at, publish),
        };
        match self.processes[at.process].asked.insert(publish.n, asked) {
            None => Ok(()),
            Some(first) => Err(at.contradicts(format!(
                "publish {} of its process was asked for at line {} and has no answer yet",
                publish.n, first.line
            ))),
        }
    }

    fn asked(&mut self, at: At, n: u64) -> Result<Asked, LogError> {
        let asked = self.processes[at.process].asked.remove(&n);
        asked.ok_or_else(|| {
            at.contradicts(format!(
                "publish {n} of its process is not open: it was never asked for, or answered before"
            ))
        })
    }

    pub(super) fn refuse(&mut self, at: At, refused: &Refused) -> Result<(), LogError> {
        let asked = self.asked(at, refused.n)?;
        self.counts.refused += 1;
        self.refused.entry(asked.print).or_insert(at.line);
        Ok(())
    }

    /// A publish that was confirmed, or that nobody knows about.
    pub(super) fn published(&mut self, at: At, answered: &Answered, confirmed: bool) -> Result<(), LogError> {
        let asked = self.asked(at, answered.n)?;
        *(if confirmed { &mut self.counts.confirmed } else { &mut self.counts.unconfirmed }) += 1;
        let index = self.jobs.of(answered.id.0);
        let job = &mut self.jobs[index];
        if job.is_known() && asked.id != Some(answered.id.0) {
            self.found.add(Violation::IdTwice { job: job.id(), first: job.asked, line: at.line });
        }
        if confirmed && job.confirmed == 0 {
            job.confirmed = at.line;
        }
        self.sent(index, asked);
        Ok(())
    }

    /// A publish of this job may have happened: its content, time and place in the order are known from now on.
    pub(super) fn sent(&mut self, index: usize, asked: Asked) {
        let job = &mut self.jobs[index];
        let is_first = !job.is_known();
        job.send();
        if !is_first {
            job.forked = true;
            return;
        }
        job.asked = asked.line;
        job.print = asked.print;
        let seen = job.if_rare().and_then(|rare| rare.seen.take());
        if let Some((_, line)) = seen.filter(|(print, _)| *print != job.print) {
            self.found.add(Violation::Altered { job: job.id(), published: job.asked, line });
        }
        if let Some(ms) = asked.ms.filter(|_| asked.delay > 0) {
            let due = Due { ms: ms.saturating_add(asked.delay), asked: asked.line };
            if job.first == 0 {
                job.rare().due = Some(due);
            } else {
                self.in_time(
                    index,
                    due,
                    At { line: self.jobs[index].first, ms: Some(self.jobs[index].first_ms), process: 0 },
                );
            }
        }
        let job = &mut self.jobs[index];
        if job.confirmed > 0
            && let Some(placed) = asked.placed
        {
            job.rare().placed = Some(placed);
            self.in_order(index);
        }
    }
}
