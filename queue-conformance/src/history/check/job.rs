//! What is known of one job, and what explains its next delivery.
//!
//! A job has copies at the broker: one of its publish, another one of each retry, return and replay. A delivery takes one. Where there is
//! none, a fault may have given a credit; else the delivery is a debt, which a fault that is noted later can still pay: a job often comes
//! again before whoever killed its process has noted that.

use std::collections::HashMap;
use std::ops::{Index, IndexMut};

use queue_core::JobId;

use super::order::Placed;

/// How a job ended, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Ended {
    #[default]
    No,
    /// A verdict that would end it was asked for, and its answer is not known.
    Perhaps,
    Acked,
    Dead,
    Cancelled,
    Discarded,
    Gone,
    Left,
}

/// What explains a duplicate.
#[derive(Clone, Copy)]
pub(super) enum Cause {
    /// A kill or a cut, by its number.
    Fault(usize),
    /// A lost ownership or a failed settle, by its line.
    Line(u64),
}

/// A delivery that nothing explains so far.
#[derive(Clone, Copy)]
pub(super) struct Debt {
    pub(super) line: u64,
    pub(super) before: u64,
    /// The delivery that was open then.
    pub(super) open: Option<u64>,
    /// The process of the last ack, and its line.
    pub(super) acked: Option<(usize, u64)>,
}

/// A time before which the job must not come.
#[derive(Clone, Copy)]
pub(super) struct Due {
    pub(super) ms: u64,
    pub(super) asked: u64,
}

/// An attempt that is too low.
#[derive(Clone, Copy)]
pub(super) struct Low {
    pub(super) attempt: u32,
    pub(super) least: u32,
    pub(super) line: u64,
    pub(super) after_retry: bool,
}

/// What most jobs never have.
#[derive(Default)]
pub(super) struct Rare {
    pub(super) credits: Vec<Cause>,
    pub(super) debts: Vec<Debt>,
    pub(super) due: Option<Due>,
    pub(super) low: Option<Low>,
    /// What a handler got before the publish was answered, and the line.
    pub(super) seen: Option<(u64, u64)>,
    pub(super) placed: Option<Box<Placed>>,
    pub(super) fence: Option<u64>,
}

#[derive(Default)]
pub(super) struct Job {
    pub(super) id: u64,
    pub(super) print: u64,
    /// Lines; 0 for none.
    pub(super) asked: u64,
    pub(super) confirmed: u64,
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) acked: u64,
    pub(super) first_ms: u64,
    /// How many publishes of it may have happened.
    pub(super) sent: u32,
    pub(super) copies: u32,
    pub(super) acks: u32,
    /// How many acks beyond one a publish may be there.
    pub(super) more_acks: u32,
    /// The least attempt of the next delivery.
    pub(super) floor: u32,
    /// The last attempt that was retried.
    pub(super) retried: u32,
    pub(super) first_attempt: u32,
    pub(super) acked_by: u32,
    pub(super) ended: Ended,
    /// There may be two copies with attempts of their own.
    pub(super) forked: bool,
    /// Its open deliveries: process and number.
    pub(super) open: Vec<(usize, u64)>,
    rare: Option<Box<Rare>>,
}

impl Job {
    pub(super) fn id(&self) -> JobId {
        JobId::from(self.id)
    }

    pub(super) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    pub(super) fn if_rare(&mut self) -> Option<&mut Rare> {
        self.rare.as_deref_mut()
    }

    pub(super) fn is_known(&self) -> bool {
        self.sent > 0
    }

    /// Where it appeared.
    pub(super) fn appeared(&self) -> u64 {
        if self.first > 0 { self.first } else { self.last }
    }

    /// One more publish may have happened: it explains the first delivery that nothing explains, or the next one.
    pub(super) fn send(&mut self) {
        self.sent += 1;
        match self.if_rare().map(|rare| &mut rare.debts) {
            Some(debts) if !debts.is_empty() => drop(debts.remove(0)),
            _ => self.copies += 1,
        }
    }

    /// Takes back the copy that a verdict would have made. False where it was delivered already.
    pub(super) fn take_back(&mut self) -> bool {
        let there = self.copies > 0;
        self.copies = self.copies.saturating_sub(1);
        there
    }

    pub(super) fn opened(&mut self, process: usize, d: u64) {
        self.open.reserve_exact(1);
        self.open.push((process, d));
    }

    pub(super) fn closed(&mut self, process: usize, d: u64) {
        self.open.retain(|open| *open != (process, d));
        if self.open.is_empty() {
            self.open = Vec::new();
        }
    }

    pub(super) fn end(&mut self, how: Ended) {
        if how != Ended::Perhaps || self.ended == Ended::No {
            self.ended = how;
        }
    }
}

#[derive(Default)]
pub(super) struct Jobs {
    all: Vec<Job>,
    by_id: HashMap<u64, u32>,
}

impl Jobs {
    /// The job of an id, new where it is.
    pub(super) fn of(&mut self, id: u64) -> usize {
        let next = self.all.len();
        // More than 2^32 jobs would not fit into memory long before.
        let at = *self.by_id.entry(id).or_insert(next as u32) as usize;
        if at == next {
            self.all.push(Job { id, floor: 1, ..Job::default() });
        }
        at
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

impl Index<usize> for Jobs {
    type Output = Job;

    fn index(&self, at: usize) -> &Job {
        &self.all[at]
    }
}

impl IndexMut<usize> for Jobs {
    fn index_mut(&mut self, at: usize) -> &mut Job {
        &mut self.all[at]
    }
}
