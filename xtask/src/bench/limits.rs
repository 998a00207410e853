//! What is promised of each row: ratios to the row's floor, read in the same run.
//!
//! A target is where we want to be, a gate where the build fails. A ratio differs less between machines than a time, but it does
//! differ: the gates hold what was measured, with a reserve of about a half (`docs/performance.md` says where the targets come from).

/// What is promised of a row. None: it is shown and not judged.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Limits {
    /// Times the floor.
    pub(super) ratio: Option<Limit>,
    /// Allocations a job.
    pub(super) allocs: Option<Limit>,
    /// Instructions a job.
    pub(super) instructions: Option<Limit>,
}

/// Where we want to be, and where it fails.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Limit {
    pub(super) target: f64,
    /// None: there is only a target yet.
    pub(super) gate: Option<f64>,
}

impl Limit {
    pub(super) const fn new(target: f64, gate: f64) -> Self {
        Self { target, gate: Some(gate) }
    }
}

/// Less than one allocation in 20,000 jobs: what a run does once, a difference of two runs can show twice.
const NO_ALLOCATION: Limit = Limit::new(0.000_05, 0.000_05);

/// By the beginning of a row's name; the first that fits.
const ALL: &[(&str, Limits)] = &[
    // The FIFO is std's ring and a rule when to resize.
    ("ring/pair/", timed(1.15, 3.5)),
    ("ring/burst/1024/kept", timed(1.15, 3.5)),
    // Nine doublings and nine halvings.
    ("ring/burst/1024", counting(0.018)),
    ("ring/", UNTIMED),
    // One lock, and what a job is made of.
    ("submit/busy", timed(1.5, 2.5)),
    ("submit/idle", UNTIMED),
    ("bare/ct/", timed(1.7, 4.5)),
    ("bare/mt2/16-", timed(3.0, 10.0)),
    ("bare/mt2/", timed(2.5, 9.0)),
    ("stack/ct/", timed(2.0, 5.0)),
    ("stack/mt2/16-", UNTIMED),
    ("stack/mt2/", timed(2.2, 10.0)),
    ("rounds/", UNTIMED),
    ("log/off/", UNTIMED),
    ("backlog/", UNTIMED),
    // The producer's, and the clone.
    ("clone/", counting(2.0)),
    // A boxed payload a job.
    ("dyn/ct/", allocating(5.0, 15.0)),
    ("dyn/mt2/", allocating(3.0, 13.0)),
    // The batch comes and its ids go in a `Vec` each: allocations that are the caller's.
    ("many/ct/", Limits { ratio: Some(Limit::new(1.1, 7.0)), allocs: None, instructions: None }),
    ("many/mt2/", Limits { ratio: Some(Limit::new(1.5, 8.0)), allocs: None, instructions: None }),
    ("busy/", timed(1.1, 1.3)),
    ("instructions/bare/", counted(170.0)),
    ("instructions/stack/", counted(220.0)),
];

/// Nothing is promised of its time, but it does not allocate.
const UNTIMED: Limits = Limits { ratio: None, allocs: Some(NO_ALLOCATION), instructions: None };

/// Nothing is promised of its time, but it allocates no more than it must.
const fn counting(allocs: f64) -> Limits {
    let allocs = Limit::new(allocs + NO_ALLOCATION.target, allocs + NO_ALLOCATION.target);
    Limits { ratio: None, allocs: Some(allocs), instructions: None }
}

const fn timed(target: f64, gate: f64) -> Limits {
    Limits { ratio: Some(Limit::new(target, gate)), allocs: Some(NO_ALLOCATION), instructions: None }
}

const fn allocating(target: f64, gate: f64) -> Limits {
    Limits { ratio: Some(Limit::new(target, gate)), allocs: Some(Limit::new(1.1, 2.2)), instructions: None }
}

/// A gate on growth needs a stored value of a finished engine.
const fn counted(target: f64) -> Limits {
    Limits { ratio: None, allocs: None, instructions: Some(Limit { target, gate: None }) }
}

/// What is promised of the row.
pub(super) fn of(row: &str) -> Limits {
    ALL.iter().find(|(prefix, _)| row.starts_with(prefix)).map(|(_, limits)| *limits).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Limits, of};

    #[test]
    fn a_row_is_found_by_the_beginning_of_its_name() {
        assert_eq!(of("bare/mt2/16-16").ratio.map(|limit| limit.target), Some(3.0));
        assert_eq!(of("bare/mt2/1-16").ratio.map(|limit| limit.target), Some(2.5));
        assert_eq!(of("ring/burst/1024/kept").allocs, of("ring/pair/64-65").allocs);
        assert!(of("ring/burst/1024").allocs > of("ring/burst/1024/kept").allocs);
        assert_eq!(of("floor/L1"), Limits::default());
    }
}
