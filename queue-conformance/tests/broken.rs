//! The suite proves itself: each broken worker fails at the rows that it names.

use queue_conformance::ROWS;
use queue_conformance::broken::{MISBEHAVIOURS, judge};

/// C-43: a worker with a planted fault fails the suite, by the id of the line that it breaks.
#[test]
fn each_broken_worker_fails_at_the_rows_that_it_names() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut wrong = Vec::new();
    for worker in MISBEHAVIOURS {
        let rows: Vec<_> = ROWS.iter().filter(|row| worker.rows.contains(&row.id)).copied().collect();
        assert!((1..=3).contains(&rows.len()) && rows.len() == worker.rows.len(), "{worker} names {:?}", worker.rows);
        let findings = judge(worker, &rows);
        if !findings.missed().is_empty() {
            wrong.push(format!("{worker} passes {:?}", findings.missed()));
        }
    }
    drop(std::panic::take_hook());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_fault_is_listed_twice() {
    let mut seen = std::collections::HashSet::new();
    assert!(MISBEHAVIOURS.iter().all(|worker| seen.insert(worker.defect)));
    assert!(MISBEHAVIOURS.len() >= 30);
}
