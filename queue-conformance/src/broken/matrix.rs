//! Which rows find which fault.

use std::collections::BTreeMap;

use super::Misbehaviour;
use crate::reference::Reference;
use crate::{Outcome, Row, run};

/// What rows of the suite found on one broken worker.
#[derive(Debug)]
pub struct Findings {
    /// The worker.
    pub worker: &'static Misbehaviour,
    /// The rows that failed, by id, and what each said.
    pub failed: BTreeMap<&'static str, String>,
}

impl Findings {
    /// The rows that the worker names and that let it pass: empty, or the suite is broken.
    #[must_use]
    pub fn missed(&self) -> Vec<&'static str> {
        self.worker.rows.iter().copied().filter(|row| !self.failed.contains_key(row)).collect()
    }

    /// The one row that finds it, where the others all let it pass.
    #[must_use]
    pub fn only(&self) -> Option<&'static str> {
        if self.failed.len() == 1 { self.failed.keys().next().copied() } else { None }
    }
}

/// Runs `rows` against a broken worker, each against a fresh one.
#[must_use]
pub fn judge(worker: &'static Misbehaviour, rows: &[Row]) -> Findings {
    let defect = worker.defect;
    let failed = rows.iter().filter_map(|row| match run(row.id, move || Reference::broken(defect)) {
        Outcome::Failed(how) => Some((row.id, how)),
        Outcome::Passed(_) | Outcome::Skipped(_) | Outcome::Unproven(_) => None,
    });
    Findings { worker, failed: failed.collect() }
}
