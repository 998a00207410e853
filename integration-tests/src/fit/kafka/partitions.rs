//! What this process owns of a topic: open offsets, running jobs, and the epoch that ends with an assignment.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use queue_core::{Loss, Ownership};

use super::super::watermark::Watermark;

/// How far the highest offset that arrived may be from the lowest that is not done, before its partition is paused.
const SPAN: i64 = 1000;

#[derive(Debug, Default)]
struct Partition {
    epoch: u64,
    watermark: Watermark,
    /// What was handed out and is not settled.
    running: HashMap<i64, Ownership>,
    /// Being revoked: nothing more is handed out.
    draining: bool,
    committed: Option<i64>,
}

#[derive(Debug, Default)]
struct State {
    partitions: HashMap<i32, Partition>,
    epoch: u64,
}

/// The partitions of this process. Its lock is held for a look-up, never over a call to the broker.
#[derive(Debug, Default)]
pub(super) struct Partitions {
    state: Mutex<State>,
    settled: Condvar,
}

/// Partition, offset, and the assignment that they came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) partition: i32,
    pub(super) offset: i64,
    pub(super) epoch: u64,
}

impl Partitions {
    /// A new assignment of `partition`: nothing of an older one counts.
    pub(super) fn assign(&self, partition: i32) {
        let mut state = self.state.lock();
        state.epoch += 1;
        let fresh = Partition { epoch: state.epoch, ..Partition::default() };
        state.partitions.insert(partition, fresh);
    }

    /// An offset arrived; none where the partition is not ours or the offset was here before.
    pub(super) fn arrive(&self, partition: i32, offset: i64) -> Option<Place> {
        let mut state = self.state.lock();
        let owned = state.partitions.get_mut(&partition)?;
        owned.watermark.open(offset).then_some(Place { partition, offset, epoch: owned.epoch })
    }

    /// Whether a job may start; from then on a revoke waits for it.
    pub(super) fn start(&self, place: Place, token: &Ownership) -> bool {
        self.with(place, |owned| {
            let starts = !owned.draining;
            if starts {
                owned.running.insert(place.offset, token.clone());
            }
            starts
        })
        .unwrap_or(false)
    }

    /// A job that was handed out and did not start: its position is held.
    pub(super) fn put_back(&self, place: Place) -> bool {
        self.with(place, |owned| owned.running.remove(&place.offset).is_some() && !owned.draining).unwrap_or(false)
    }

    /// Whether a settle may still be sent.
    pub(super) fn owns(&self, place: Place) -> bool {
        self.with(place, |owned| owned.running.contains_key(&place.offset)).unwrap_or(false)
    }

    /// Done; false for an older epoch, and for a second time.
    pub(super) fn finish(&self, place: Place) -> bool {
        let done = self.with(place, |owned| {
            owned.running.remove(&place.offset);
            owned.watermark.finish(place.offset)
        });
        done.unwrap_or(false)
    }

    fn with<T>(&self, place: Place, act: impl FnOnce(&mut Partition) -> T) -> Option<T> {
        let mut state = self.state.lock();
        let owned = state.partitions.get_mut(&place.partition).filter(|owned| owned.epoch == place.epoch)?;
        let answer = act(owned);
        self.settled.notify_all();
        Some(answer)
    }

    /// Stops handing out `partitions` and waits, at most `limit`, for what runs there.
    pub(super) fn drain(&self, partitions: &[i32], limit: Duration) {
        let mut state = self.state.lock();
        for partition in partitions {
            if let Some(owned) = state.partitions.get_mut(partition) {
                owned.draining = true;
            }
        }
        let busy = |state: &mut State| {
            partitions.iter().any(|p| state.partitions.get(p).is_some_and(|o| !o.running.is_empty()))
        };
        let _ = self.settled.wait_while_for(&mut state, busy, limit);
    }

    /// Forgets `partitions`: what still runs there is lost.
    pub(super) fn revoke(&self, partitions: &[i32]) {
        let gone: Vec<_> = {
            let mut state = self.state.lock();
            partitions.iter().filter_map(|partition| state.partitions.remove(partition)).collect()
        };
        // No waker runs under the lock.
        for token in gone.into_iter().flat_map(|owned| owned.running.into_values()) {
            token.lose(Loss::Revoked);
        }
    }

    /// Positions that moved since they were committed, of `only` or of all that are not being revoked.
    pub(super) fn positions(&self, only: Option<&[i32]>) -> Vec<(i32, i64)> {
        let state = self.state.lock();
        let wanted = |partition: &i32, owned: &Partition| only.map_or(!owned.draining, |only| only.contains(partition));
        let moved =
            |owned: &Partition| owned.watermark.position().filter(|position| owned.committed != Some(*position));
        state.partitions.iter().filter(|(p, o)| wanted(p, o)).filter_map(|(p, o)| Some((*p, moved(o)?))).collect()
    }

    /// The broker has these positions.
    pub(super) fn committed(&self, positions: &[(i32, i64)]) {
        let mut state = self.state.lock();
        for (partition, position) in positions {
            if let Some(owned) = state.partitions.get_mut(partition) {
                owned.committed = Some(*position);
            }
        }
    }

    /// All partitions, each with whether a crash would hand out too much of it again.
    pub(super) fn spans(&self) -> Vec<(i32, bool)> {
        self.state.lock().partitions.iter().map(|(p, owned)| (*p, owned.watermark.span() >= SPAN)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_epoch_commits_nothing_for_the_new_owner() {
        let partitions = Partitions::default();
        partitions.assign(0);
        let old = partitions.arrive(0, 5).unwrap();
        let token = Ownership::new();
        assert!(partitions.start(old, &token));
        partitions.revoke(&[0]);
        assert_eq!(token.lost(), Some(Loss::Revoked));
        partitions.assign(0);
        let new = partitions.arrive(0, 5).unwrap();
        assert_ne!(old, new);
        assert!(!partitions.owns(old) && !partitions.finish(old));
        assert_eq!(partitions.positions(None), [(0, 5)]);
    }

    #[test]
    fn a_second_settle_finds_nothing_and_a_returned_job_holds_its_position() {
        let partitions = Partitions::default();
        partitions.assign(0);
        let (one, two) = (partitions.arrive(0, 1).unwrap(), partitions.arrive(0, 2).unwrap());
        let token = Ownership::new();
        assert!(partitions.start(one, &token) && partitions.start(two, &token));
        assert!(partitions.finish(two) && !partitions.finish(two));
        assert!(partitions.put_back(one) && !partitions.put_back(one));
        assert_eq!(partitions.positions(None), [(0, 1)]);
        partitions.committed(&[(0, 1)]);
        assert!(partitions.positions(None).is_empty());
        assert!(partitions.start(one, &token) && partitions.finish(one));
        assert_eq!(partitions.positions(None), [(0, 3)]);
    }

    #[test]
    fn a_partition_that_drains_hands_nothing_out_and_is_committed_by_its_revoke_alone() {
        let partitions = Partitions::default();
        partitions.assign(0);
        let one = partitions.arrive(0, 0).unwrap();
        partitions.drain(&[0], Duration::from_secs(5));
        assert!(!partitions.start(one, &Ownership::new()));
        assert!(partitions.positions(None).is_empty());
        assert_eq!(partitions.positions(Some(&[0])), [(0, 0)]);
    }

    #[test]
    fn a_span_that_grows_too_wide_is_told() {
        let partitions = Partitions::default();
        partitions.assign(0);
        for offset in 0..SPAN {
            partitions.arrive(0, offset).unwrap();
        }
        assert_eq!(partitions.spans(), [(0, true)]);
    }
}
