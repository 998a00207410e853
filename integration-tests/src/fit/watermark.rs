//! The offset below which everything is done, of one partition.

use std::collections::BTreeSet;

/// Which offsets of a partition were handed out and are not done.
///
/// A commit of n says "all below n is done". Offsets arrive ascending, with gaps where the log was compacted.
#[derive(Debug, Default)]
pub(super) struct Watermark {
    open: BTreeSet<i64>,
    /// One above the highest offset that arrived.
    next: i64,
}

impl Watermark {
    /// `offset` arrived. False where it had arrived before: a second delivery is nobody's.
    pub(super) fn open(&mut self, offset: i64) -> bool {
        if offset < self.next {
            return false;
        }
        self.next = offset.saturating_add(1);
        self.open.insert(offset)
    }

    /// `offset` is done. False where it was not open: settled before.
    pub(super) fn finish(&mut self, offset: i64) -> bool {
        self.open.remove(&offset)
    }

    /// What may be committed; none before anything arrived.
    pub(super) fn position(&self) -> Option<i64> {
        (self.next > 0).then(|| self.open.first().copied().unwrap_or(self.next))
    }

    /// From the lowest open offset to the highest that arrived: what a crash hands out again, at most.
    pub(super) fn span(&self) -> i64 {
        self.open.first().map_or(0, |low| self.next - low)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The model: a map from offset to "done". No committed position passes an offset that is not done, and none stays behind
        /// further than the lowest one.
        #[test]
        fn the_position_is_the_lowest_open_offset(steps in proptest::collection::vec((any::<bool>(), 0i64..40, 1i64..4), 0..200)) {
            let (mut tracker, mut model, mut next) = (Watermark::default(), BTreeMap::new(), 0);
            let mut committed = 0;
            for (arrive, pick, gap) in steps {
                if arrive {
                    let offset = next + gap - 1;
                    next = offset + 1;
                    prop_assert!(tracker.open(offset));
                    prop_assert!(!tracker.open(offset));
                    model.insert(offset, false);
                } else {
                    let was_open = model.get(&pick) == Some(&false);
                    prop_assert_eq!(tracker.finish(pick), was_open);
                    if was_open {
                        model.insert(pick, true);
                    }
                }
                let lowest = model.iter().find(|(_, done)| !**done).map(|(offset, _)| *offset);
                prop_assert_eq!(tracker.position(), (next > 0).then(|| lowest.unwrap_or(next)));
                prop_assert_eq!(tracker.span(), lowest.map_or(0, |low| next - low));
                let position = tracker.position().unwrap_or(0);
                prop_assert!(position >= committed);
                committed = position;
            }
        }
    }
}
