//! What looks like a fault and is none: each has its explanation in the log.

use queue_conformance::history::{Kind, Report};

use crate::log::Log;

/// F-18: the job of a killed process comes again before anybody has noted the kill.
#[test]
fn a_kill_explains_what_came_before_it_was_noted() {
    let log = Log::new().at(10).sent(1).by("b").delivered(1, 1, 1).started(1, 1).by("c").works(1, 1, 1);
    log.clone().breaks(Kind::TwoOpen, 4);
    let report = log.by("a").killed("b").holds();
    assert_eq!((report.counts().duplicates, report.longest_redelivery_ms()), (1, Some(0)));
}

/// F-18: the longest time from a kill to the next delivery is told.
#[test]
fn the_gap_after_a_kill_is_measured() {
    let log = Log::new().at(1_000).sent(1).sent(2).by("b").delivered(1, 1, 1).delivered(2, 2, 1).by("a").killed("b");
    let report = log.at(1_250).works(1, 1, 1).at(4_500).works(2, 2, 1).holds();
    assert_eq!(report.longest_redelivery_ms(), Some(3_500));
    assert!(report.to_string().contains("3500 ms"), "{report}");
}

/// F-18: an ack that was asked for and never answered, for its process was killed, may have been done or not.
#[test]
fn an_ack_without_an_answer_may_be_done() {
    let log = Log::new().sent(1).by("b").delivered(1, 1, 1).runs(1, 1).settle(1, "ack").by("a").killed("b");
    log.holds();
    log.works(1, 1, 1).holds();
}

/// F-18: a retry that a kill cut in two leaves the copy, the delivery, or both; a third needs a reason of its own.
#[test]
fn a_retry_without_an_answer_explains_two_deliveries() {
    let log = Log::new().sent(1).by("b").delivered(1, 1, 1).settle(1, "retry").by("a").killed("b");
    log.breaks(Kind::Lost, 3);
    let one = log.works(1, 1, 2);
    one.holds();
    let two = one.works(2, 1, 1);
    assert_eq!(two.holds().counts().duplicates, 2);
    two.clone().delivered(3, 1, 2).settles(3, "dead").breaks(Kind::Duplicate, two.line() + 1);
}

/// F-18: a settle that failed and is asked again.
#[test]
fn a_failed_settle_may_have_been_done() {
    let failed = Log::new().sent(1).delivered(1, 1, 1).runs(1, 1).settle(1, "ack").failed(1);
    failed.clone().settle(1, "ack").settled(1, "lost").holds();
    failed.clone().settles(1, "ack").holds();
    failed.clone().by("b").works(1, 1, 1).by("a").settle(1, "ack").settled(1, "lost").holds();
    let twice = failed.gave_up(1).works(2, 1, 1);
    twice.holds();
    twice.clone().delivered(3, 1, 1).settles(3, "dead").breaks(Kind::Duplicate, twice.line() + 1);
}

/// F-18: an unconfirmed publish need not come; sent again under its id it may come twice, and not three times.
#[test]
fn an_unconfirmed_publish_may_come_and_is_sent_again() {
    Log::new().publish(1).unconfirmed(1).holds();
    Log::new().publish(1).unconfirmed(1).works(1, 1, 1).holds();
    let again = "\"publish\":{\"n\":2,\"f\":\"0000000000000001\",\"id\":\"0000000000000001\"}";
    let sent = Log::new().publish(1).unconfirmed(1).event(again).confirmed_as(2, 1);
    sent.breaks(Kind::Lost, 5);
    sent.clone().works(1, 1, 1).holds();
    let two = sent.works(1, 1, 1).works(2, 1, 1);
    assert_eq!(two.holds().counts().duplicates, 0);
    two.clone().delivered(3, 1, 1).settles(3, "dead").breaks(Kind::Duplicate, two.line() + 1);
}

/// F-18: a publish without an answer at a kill, or at the end, is known by its content; also where its job was never run.
#[test]
fn a_publish_without_an_answer_may_have_happened() {
    let log = Log::new().by("b").publish(7).by("a").killed("b");
    let report = log.holds();
    assert_eq!((report.counts().unanswered, report.counts().happened), (1, 0));
    let report = log.clone().left(99, "waiting").holds();
    assert_eq!(report.counts().happened, 1);
    let report = log.delivered(1, 99, 1).started_with(99, 1, 7).ended(99, 1, "ok").settles(1, "ack").holds();
    assert_eq!(report.counts().happened, 1);
    Log::new().publish(7).delivered(1, 99, 1).started_with(99, 1, 7).ended(99, 1, "ok").settles(1, "ack").holds();
}

/// F-18: a lease that ran out: the next owner has the job before the first one hears of it.
#[test]
fn a_takeover_is_explained_by_the_loss_that_is_noted_later() {
    let log = Log::new().sent(1).by("b").delivered(1, 1, 1).started(1, 1).by("c").works(1, 1, 2).by("b");
    log.clone().ended(1, 1, "cancelled").gave_up(1).holds();
    log.ended(1, 1, "ok").settle(1, "ack").settled(1, "lost").holds();
}

/// F-18: what was handed back is delivered again as the same attempt, and no duplicate.
#[test]
fn a_return_is_no_duplicate() {
    let log = Log::new().sent(1).delivered(1, 1, 1).settle(1, "return").delivered(2, 1, 1).settled(1, "done");
    let report = log.runs(1, 1).settles(2, "ack").holds();
    assert_eq!((report.counts().duplicates, report.counts().returned), (0, 1));
    // What the worker left with whoever asked is still open.
    Log::new().sent(1).delivered(1, 1, 1).settle(1, "return").settled(1, "kept").runs(1, 1).settles(1, "ack").holds();
    let kept = Log::new().sent(1).delivered(1, 1, 1).settle(1, "return").settled(1, "kept").runs(1, 1);
    kept.settles(1, "ack").delivered(2, 1, 1).settles(2, "dead").breaks(Kind::Duplicate, 11);
}

/// F-18: every place where an inventory may find a job ends it.
#[test]
fn an_inventory_accounts_for_jobs() {
    for place in ["waiting", "delayed", "dead", "handed over", "cancelled"] {
        Log::new().sent(1).left(1, place).holds();
    }
    Log::new().sent(1).delivered(1, 1, 1).settles(1, "dead").left(1, "dead").holds();
    Log::new().sent(1).delivered(1, 1, 1).settles(1, "dead").of_job("discarded", 1).holds();
    Log::new().sent(1).delivered(1, 1, 1).settle(1, "return").settled(1, "gone").holds();
}

/// F-18: of one kind the first ten are shown, and how many more there are.
#[test]
fn a_report_shows_a_few_and_counts_all() {
    let log = (1..=25).fold(Log::new(), Log::sent);
    let report = log.report();
    assert_eq!((report.violations()[0].total, report.violations()[0].shown.len()), (25, Report::SHOWN));
    assert!(report.to_string().contains("… and 15 more"), "{report}");
    assert!(report.to_string().ends_with("the log does not hold: 25 violations"), "{report}");
}

/// F-18: a handler runs the delivery that is not being handed back, though both are of one job and one attempt.
#[test]
fn a_run_belongs_to_the_delivery_that_is_not_handed_back() {
    let log = Log::new().sent(1).delivered(1, 1, 1).settle(1, "return").delivered(2, 1, 1).started(1, 1);
    log.settled(1, "done").ended(1, 1, "ok").settles(2, "ack").holds();
}

/// F-18: a process that has a job twice, for it was published twice, may run either delivery; each ack needs a run.
#[test]
fn of_two_deliveries_in_one_process_either_may_run() {
    let again = "\"publish\":{\"n\":2,\"f\":\"0000000000000001\",\"id\":\"0000000000000001\"}";
    let log = Log::new().publish(1).unconfirmed(1).event(again).confirmed_as(2, 1);
    let log = log.delivered(1, 1, 1).delivered(2, 1, 1).started(1, 1).ended(1, 1, "ok").settles(2, "ack");
    log.clone().runs(1, 1).settles(1, "ack").holds();
    log.settles(1, "ack").breaks(Kind::EarlyAck, 12);
}

/// F-18: a fault excuses what came after its own delivery, and not that delivery itself.
#[test]
fn a_loss_does_not_excuse_its_own_delivery() {
    let log = Log::new().lives(1, 1).by("b").delivered(2, 1, 1);
    let line = log.line();
    log.by("a").killed("b").breaks(Kind::Duplicate, line);
}
