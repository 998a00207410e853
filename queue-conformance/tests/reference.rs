//! The reference broker keeps every promise of the suite, directly and behind its erased type.

use queue_conformance::reference::Reference;
use queue_conformance::{Boxed, Outcome, ROWS, run_all, suite};

mod direct {
    use super::*;
    suite!(Reference::new());
}

mod boxed {
    use super::*;
    suite!(Boxed(Reference::new()));
}

/// A row that proves nothing on the reference could let every fault pass.
#[test]
fn the_reference_leaves_no_row_out() {
    for (row, outcome) in run_all(Reference::new) {
        assert!(matches!(outcome, Outcome::Passed(_)), "{} ({}): {outcome}", row.id, row.title);
    }
}

/// The list of the macro is the list of the rows.
#[test]
fn the_macro_makes_a_test_of_each_row() {
    let names: Vec<String> = ROWS.iter().map(|row| row.id.to_lowercase().replace('-', "_")).collect();
    assert_eq!(names, suite!(@names));
}
