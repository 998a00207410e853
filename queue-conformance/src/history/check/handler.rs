//! What handlers got.

use super::process::Open;
use super::{At, Checker, Violation};
use crate::history::event::{Ended, Started};
use crate::history::read::LogError;

impl Checker {
    pub(super) fn start(&mut self, at: At, started: &Started) -> Result<(), LogError> {
        self.counts.started += 1;
        let index = self.jobs.of(started.id.0);
        let job = &mut self.jobs[index];
        if !job.is_known() {
            job.rare().seen.get_or_insert((started.f.0, at.line));
        } else if job.print != started.f.0 {
            self.found.add(Violation::Altered { job: job.id(), published: job.asked, line: at.line });
        }
        if job.last == 0 {
            job.last = at.line;
        }
        // An attempt that an engine makes without a new delivery is higher than that of the delivery.
        let fits = |attempt: u32, ran: bool| started.a == attempt || started.a > attempt && ran;
        let open = &mut self.processes[at.process].open;
        let found = job.open.iter().filter(|(process, _)| *process == at.process).find(|(_, d)| {
            // What is being handed back does not start.
            let idle = |open: &&Open| open.runs.is_none() && open.pending.is_none();
            open.get(d).filter(idle).is_some_and(|open| fits(open.attempt, open.end.is_some()))
        });
        match found.and_then(|(_, d)| open.get_mut(d)) {
            Some(open) => open.runs = Some(started.a),
            None => {
                let job = job.id();
                self.found.add(Violation::RanWithoutDelivery { job, attempt: started.a, line: at.line });
            }
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, at: At, ended: &Ended) -> Result<(), LogError> {
        let index = self.jobs.of(ended.id.0);
        let open = &mut self.processes[at.process].open;
        let mut deliveries = self.jobs[index].open.iter().filter(|(process, _)| *process == at.process);
        // A handler that could not be stopped may end after its delivery did: that changes nothing.
        let found = deliveries.find(|(_, d)| open.get(d).is_some_and(|open| open.runs == Some(ended.a)));
        if let Some(open) = found.and_then(|(_, d)| open.get_mut(d)) {
            open.runs = None;
            open.end = Some(ended.how);
        }
        Ok(())
    }
}
