//! What one process has open.

use std::collections::HashMap;
use std::ops::{Index, IndexMut};

use super::order::Placed;
use crate::history::event::{Ask, End};
use crate::history::read::LogError;

/// The most processes of one run, and the longest name in bytes: both bound what a hostile log can make the checker hold.
const MAX_PROCESSES: usize = 10_000;
const MAX_NAME: usize = 200;

/// A publish that waits for its answer.
pub(super) struct Asked {
    pub(super) line: u64,
    pub(super) ms: Option<u64>,
    pub(super) print: u64,
    pub(super) id: Option<u64>,
    pub(super) delay: u64,
    /// Where it stands in the order, where one is claimed.
    pub(super) placed: Option<Box<Placed>>,
}

/// A verdict that waits for its answer.
#[derive(Clone, Copy)]
pub(super) struct Pending {
    pub(super) verdict: Ask,
    pub(super) line: u64,
    /// Whether this one set the time before which the job must not come.
    pub(super) waits: bool,
}

/// A delivery that was handed out.
pub(super) struct Open {
    pub(super) job: usize,
    pub(super) line: u64,
    pub(super) attempt: u32,
    /// The attempt whose handler runs.
    pub(super) runs: Option<u32>,
    /// How the last handler ended.
    pub(super) end: Option<End>,
    pub(super) pending: Option<Pending>,
    /// A fault said already that it may come again.
    pub(super) excused: bool,
}

/// How a delivery ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    Done,
    Lost,
}

/// A delivery that has ended.
pub(super) struct Closed {
    pub(super) job: usize,
    pub(super) line: u64,
    pub(super) how: Closing,
}

#[derive(Default)]
pub(super) struct Process {
    pub(super) asked: HashMap<u64, Asked>,
    pub(super) open: HashMap<u64, Open>,
    pub(super) closed: HashMap<u64, Closed>,
    pub(super) last_line: u64,
    pub(super) last_ms: u64,
    /// Where it was killed, or ended in order.
    pub(super) ended: Option<u64>,
    /// The last fault that it met.
    pub(super) fault: Option<usize>,
}

#[derive(Default)]
pub(super) struct Processes {
    all: Vec<Process>,
    by_name: HashMap<Box<str>, usize>,
}

impl Processes {
    /// The process of a name, new where it is.
    pub(super) fn named(&mut self, name: &str, line: u64) -> Result<usize, LogError> {
        if let Some(at) = self.by_name.get(name) {
            return Ok(*at);
        }
        if self.all.len() == MAX_PROCESSES || name.len() > MAX_NAME {
            let what = format!("there may be {MAX_PROCESSES} processes, with names of at most {MAX_NAME} bytes");
            return Err(LogError::Contradiction { line, what: what.into() });
        }
        self.by_name.insert(name.into(), self.all.len());
        self.all.push(Process::default());
        Ok(self.all.len() - 1)
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

impl Index<usize> for Processes {
    type Output = Process;

    fn index(&self, at: usize) -> &Process {
        &self.all[at]
    }
}

impl IndexMut<usize> for Processes {
    fn index_mut(&mut self, at: usize) -> &mut Process {
        &mut self.all[at]
    }
}
