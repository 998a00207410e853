//! Random sequences against a model of two queues a priority.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use backend_memory::Ring;
use proptest::prelude::*;
use proptest::test_runner::Config;
use queue_core::{Cancels, DeliveryOf, JobId, Verdict, Worker};

use crate::common::{BACK, jobs, now, push_urgent, refused, retry, settle, shutdown, take};

const CAPACITY: usize = 12;

#[derive(Debug, Clone)]
enum Step {
    Push(u8),
    Pop,
    Block(usize),
    /// Hands the last so many deliveries back together.
    GiveBack(usize),
    /// Ends a delivery.
    Return(usize),
    Retry(usize),
    Ack(usize),
    /// Cancels the job of that number.
    Cancel(usize),
}

/// A step out of a number, for 10,000 cases of a strategy a step take minutes.
fn step(code: u16) -> Step {
    let of = usize::from(code >> 5);
    match code & 31 {
        0..=8 => Step::Push(0),
        9..=11 => Step::Push(1 + (code >> 5) as u8 % 2),
        12..=15 => Step::Pop,
        16..=18 => Step::Block(1 + of % 20),
        19..=21 => Step::GiveBack(1 + of % 8),
        22..=24 => Step::Return(of % 8),
        25..=27 => Step::Retry(of % 8),
        28..=29 => Step::Ack(of % 8),
        _ => Step::Cancel(of % 30),
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any::<u16>(), 1..48).prop_map(|codes| codes.into_iter().map(step).collect())
}

/// Job and attempt. Jobs are numbered as they come, as ids are.
type Item = (u32, u32);

/// One priority: what was handed back, by age, stands before what came or was retried, by arrival.
#[derive(Default)]
struct Level {
    returned: BTreeMap<u32, u32>,
    arrived: VecDeque<Item>,
}

#[derive(Default)]
struct Model {
    levels: [Level; 3],
    priorities: Vec<u8>,
    ids: Vec<JobId>,
    out: Vec<Item>,
}

impl Model {
    fn len(&self) -> usize {
        self.levels.iter().map(|level| level.returned.len() + level.arrived.len()).sum()
    }

    fn level(&mut self, job: u32) -> &mut Level {
        &mut self.levels[usize::from(self.priorities[job as usize])]
    }

    fn pop(&mut self) -> Option<Item> {
        self.levels.iter_mut().rev().find_map(|level| level.returned.pop_first().or_else(|| level.arrived.pop_front()))
    }

    fn cancel(&mut self, job: u32) -> bool {
        let level = self.level(job);
        let before = level.arrived.len();
        level.arrived.retain(|(other, _)| *other != job);
        level.returned.remove(&job).is_some() || level.arrived.len() < before
    }
}

#[derive(Default)]
struct Pair {
    model: Model,
    out: Vec<DeliveryOf<Ring<u32>>>,
}

impl Pair {
    fn step(&mut self, ring: &Ring<u32>, step: &Step) {
        match *step {
            Step::Push(priority) => self.push(ring, priority),
            Step::Pop => self.pop(ring, 1),
            Step::Block(max) => self.pop(ring, max),
            Step::GiveBack(count) => {
                let from = self.out.len().saturating_sub(count);
                let mut block: VecDeque<_> = self.out.drain(from..).collect();
                ring.give_back(&mut block);
                assert!(block.is_empty());
                for (job, attempt) in self.model.out.split_off(from) {
                    self.model.level(job).returned.insert(job, attempt);
                }
            }
            Step::Return(at) => {
                if let Some((job, attempt)) = self.end(ring, at, BACK) {
                    self.model.level(job).returned.insert(job, attempt);
                }
            }
            Step::Retry(at) => {
                if let Some((job, attempt)) = self.end(ring, at, retry(Duration::ZERO)) {
                    self.model.level(job).arrived.push_back((job, attempt + 1));
                }
            }
            Step::Ack(at) => drop(self.end(ring, at, Verdict::Ack)),
            Step::Cancel(at) => {
                if let Some(id) = self.model.ids.get(at).copied() {
                    let expected = self.model.cancel(u32::try_from(at).unwrap());
                    assert_eq!(now(ring.cancel(id)).unwrap().is_some(), expected);
                }
            }
        }
        assert_eq!(ring.len(), self.model.len());
    }

    fn push(&mut self, ring: &Ring<u32>, priority: u8) {
        let job = u32::try_from(self.model.priorities.len()).unwrap();
        if self.model.len() < CAPACITY {
            self.model.ids.push(push_urgent(ring, job, priority));
            self.model.priorities.push(priority);
            self.model.level(job).arrived.push_back((job, 1));
        } else {
            assert_eq!(refused(ring, job).1, job);
        }
    }

    fn pop(&mut self, ring: &Ring<u32>, max: usize) {
        let got = take(ring, max);
        let expected: Vec<_> = std::iter::from_fn(|| self.model.pop()).take(max).collect();
        let ids: Vec<_> = got.iter().map(|delivery| (delivery.meta.id, delivery.meta.attempt)).collect();
        let known = |(job, attempt): &Item| (self.model.ids[*job as usize], *attempt);
        assert_eq!(ids, expected.iter().map(known).collect::<Vec<_>>());
        self.model.out.extend(expected);
        self.out.extend(got);
    }

    fn end(&mut self, ring: &Ring<u32>, at: usize, verdict: Verdict) -> Option<Item> {
        if at >= self.out.len() {
            return None;
        }
        settle(ring, self.out.remove(at), verdict);
        Some(self.model.out.remove(at))
    }
}

proptest! {
    #![proptest_config(Config { cases: 10_000, failure_persistence: None, ..Config::default() })]

    ///
    #[test]
    fn any_sequence_equals_the_model(steps in steps()) {
        let ring = Ring::builder().capacity(CAPACITY).build().unwrap();
        let mut pair = Pair::default();
        for step in &steps {
            pair.step(&ring, step);
        }
        prop_assert_eq!(ring.tally().accepted, pair.model.ids.len() as u64);
        let left: Vec<_> = std::iter::from_fn(|| pair.model.pop()).map(|(job, _)| job).collect();
        prop_assert_eq!(jobs(shutdown(&ring)), left);
    }
}
