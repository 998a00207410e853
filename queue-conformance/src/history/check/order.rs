//! The order of first deliveries.
//!
//! Two jobs are compared where everybody agrees which was first: one was confirmed before the other was asked for, or both were asked for
//! in one call. Then the first deliveries must stand in the same order. A job that may have come back unseen, for a process was killed
//! between its confirmation and its first delivery, proves nothing.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{At, Checker, Violation};
use crate::history::claims::Order;
use crate::history::event::Publish;

/// How many of a lane's last deliveries are remembered, for a job whose confirmation is noted after it was delivered.
const RECENT: usize = 64;

/// How many suspicions are kept until all faults are known; further ones count at once.
const MAX_SUSPECTS: usize = 100_000;

/// Where a publish stands.
pub(super) struct Placed {
    lane: u64,
    asked: u64,
    /// Its call, where that has many, and its number there.
    call: Option<(usize, u64)>,
    n: u64,
}

/// A job that was delivered for the first time.
#[derive(Clone, Copy)]
struct First {
    job: usize,
    line: u64,
    asked: u64,
    confirmed: u64,
    n: u64,
}

#[derive(Default)]
struct Lane {
    /// Of those delivered, the one that was asked for last.
    latest: Option<First>,
    recent: VecDeque<First>,
}

/// Of a call's delivered jobs, the last of the call and the last delivered.
struct Call {
    highest: First,
    last: First,
}

struct Suspect {
    late: First,
    other: First,
}

pub(super) struct Sequence {
    order: Order,
    lanes: HashMap<u64, Lane>,
    calls: HashMap<(usize, u64, u64), Call>,
    suspects: Vec<Suspect>,
}

impl Sequence {
    pub(super) fn new(order: Order) -> Self {
        Self { order, lanes: HashMap::new(), calls: HashMap::new(), suspects: Vec::new() }
    }

    /// The place of a publish. None where it has none: no order is claimed for it, it waits for a time of its own, or it is sent again.
    pub(super) fn place(&self, at: At, publish: &Publish<'_>) -> Option<Box<Placed>> {
        if publish.delay.is_some() || publish.id.is_some() {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        publish.prio.hash(&mut hasher);
        match self.order {
            Order::None => return None,
            Order::Producer => at.process.hash(&mut hasher),
            Order::Key => publish.key.as_ref()?.hash(&mut hasher),
            Order::Queue => {}
        }
        let call = publish.call.map(|call| (at.process, call));
        Some(Box::new(Placed { lane: hasher.finish(), asked: at.line, call, n: publish.n }))
    }

    fn first(&mut self, placed: &Placed, first: First) -> Option<Suspect> {
        let lane = self.lanes.entry(placed.lane).or_default();
        let before = lane.latest.filter(|other| other.asked > first.confirmed && other.line < first.line);
        let mut suspect = before.map(|other| Suspect { late: first, other });
        // Delivered before its confirmation was noted: has one come since that must have come before?
        let overtaken = lane.recent.iter().find(|late| late.line > first.line && late.confirmed < first.asked);
        suspect = suspect.or_else(|| overtaken.map(|late| Suspect { late: *late, other: first }));
        if lane.latest.is_none_or(|latest| latest.asked < first.asked) {
            lane.latest = Some(first);
        }
        if lane.recent.len() == RECENT {
            lane.recent.pop_front();
        }
        lane.recent.push_back(first);
        let Some((process, call)) = placed.call else { return suspect };
        let call = self.calls.entry((process, call, placed.lane)).or_insert(Call { highest: first, last: first });
        let (highest, last) = (call.highest, call.last);
        if highest.n < first.n {
            call.highest = first;
        } else if highest.line < first.line {
            suspect = suspect.or(Some(Suspect { late: first, other: highest }));
        }
        if last.line < first.line {
            call.last = first;
        } else if last.n < first.n {
            suspect = suspect.or(Some(Suspect { late: last, other: first }));
        }
        suspect
    }
}

impl Checker {
    /// Compares a job once it is both confirmed and delivered.
    pub(super) fn in_order(&mut self, index: usize) {
        let job = &mut self.jobs[index];
        if self.sequence.order == Order::None || job.confirmed == 0 || job.first == 0 {
            return;
        }
        let Some(placed) = job.if_rare().and_then(|rare| rare.placed.take()) else { return };
        let first = First { job: index, line: job.first, asked: placed.asked, confirmed: job.confirmed, n: placed.n };
        if let Some(suspect) = self.sequence.first(&placed, first) {
            if self.sequence.suspects.len() < MAX_SUSPECTS {
                self.sequence.suspects.push(suspect);
            } else {
                self.swapped(&suspect);
            }
        }
    }

    /// Judges what was suspected, once all faults are known.
    pub(super) fn judge_order(&mut self) {
        for suspect in std::mem::take(&mut self.sequence.suspects) {
            if !self.faults.within(suspect.late.confirmed, suspect.late.line) {
                self.swapped(&suspect);
            }
        }
    }

    fn swapped(&mut self, suspect: &Suspect) {
        self.found.add(Violation::Swapped {
            job: self.jobs[suspect.late.job].id(),
            line: suspect.late.line,
            other: self.jobs[suspect.other.job].id(),
            other_published: suspect.other.asked,
        });
    }
}
