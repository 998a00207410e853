//! A planted fault for each rule. The same log without it holds.

use queue_conformance::history::Kind;

use crate::log::Log;

/// F-18: a confirmed job without an end is lost: never delivered, delivered and forgotten, retried and never seen again.
#[test]
fn a_lost_job_is_found() {
    Log::new().lives(1, 1).holds();
    Log::new().sent(1).breaks(Kind::Lost, 3);
    Log::new().sent(1).delivered(1, 1, 1).breaks(Kind::Lost, 4);
    let retried = Log::new().sent(1).delivered(1, 1, 1).started(1, 1).ended(1, 1, "error").settles(1, "retry");
    retried.clone().works(2, 1, 2).holds();
    retried.breaks(Kind::Lost, 4);
    // The process that had it was killed, and the job never came again.
    Log::new().sent(1).by("b").delivered(1, 1, 1).by("a").killed("b").breaks(Kind::Lost, 4);
    // A verdict that lost its ownership ends nothing.
    Log::new().sent(1).delivered(1, 1, 1).runs(1, 1).settle(1, "ack").settled(1, "lost").breaks(Kind::Lost, 4);
    // Nothing has to be handed out again after an ack or a dead letter: neither can be gone.
    let ran = Log::new().sent(1).delivered(1, 1, 1).runs(1, 1);
    ran.clone().settle(1, "ack").settled(1, "gone").breaks(Kind::Lost, 4);
    ran.settle(1, "dead").settled(1, "gone").breaks(Kind::Lost, 4);
    // A dead letter that was put back, and did not come.
    let dead = Log::new().sent(1).delivered(1, 1, 1).settles(1, "dead");
    dead.holds();
    let replayed = dead.of_job("replay", 1).event("\"replayed\":{\"id\":\"0000000000000001\",\"done\":true}");
    replayed.clone().works(2, 1, 1).holds();
    replayed.breaks(Kind::Lost, 4);
}

/// F-18: a delivery, a handler or an inventory with a job that nobody published is invented.
#[test]
fn an_invented_job_is_found() {
    let good = Log::new().lives(1, 1);
    good.holds();
    good.clone().works(2, 9, 1).breaks(Kind::Invented, good.line() + 1);
    good.clone().left(9, "waiting").breaks(Kind::Invented, good.line() + 1);
    // A publish of a killed process may have any id, but not another content, and it explains one job.
    let killed = Log::new().by("b").publish(7).by("a").killed("b");
    killed.clone().delivered(1, 9, 1).started_with(9, 1, 7).ended(9, 1, "ok").settles(1, "ack").holds();
    killed.clone().works(1, 9, 1).breaks(Kind::Invented, 4);
    let two = killed.delivered(1, 8, 1).started_with(8, 1, 7).ended(8, 1, "ok").settles(1, "ack");
    let line = two.line() + 1;
    two.delivered(2, 9, 1).started_with(9, 1, 7).ended(9, 1, "ok").settles(2, "ack").breaks(Kind::Invented, line);
}

/// F-18: a handler that got another content than was published.
#[test]
fn an_altered_job_is_found() {
    let good = Log::new().sent(1).delivered(1, 1, 1);
    good.clone().started(1, 1).ended(1, 1, "ok").settles(1, "ack").holds();
    good.started_with(1, 1, 99).ended(1, 1, "ok").settles(1, "ack").breaks(Kind::Altered, 5);
    // The handler was faster than the confirmation.
    let fast = Log::new().publish(1).delivered(1, 1, 1).started_with(1, 1, 99).ended(1, 1, "ok").settles(1, "ack");
    fast.confirmed(1).breaks(Kind::Altered, 4);
}

/// F-18: a refused job that was delivered all the same.
#[test]
fn a_refused_job_that_comes_is_found() {
    let refused = Log::new().publish(1).refused(1);
    refused.holds();
    let came = refused.delivered(1, 5, 1).started_with(5, 1, 1).ended(5, 1, "ok").settles(1, "ack");
    came.breaks(Kind::RefusedDelivered, 4);
}

/// F-18: two publishes with one id. Sent again under its id it is one job.
#[test]
fn an_id_that_is_given_twice_is_found() {
    let again = "\"id\":\"0000000000000001\"";
    let first = Log::new().publish(1).unconfirmed(1);
    let sent = first.clone().event(&format!("\"publish\":{{\"n\":2,\"f\":\"0000000000000001\",{again}}}"));
    sent.confirmed_as(2, 1).works(1, 1, 1).works(2, 1, 1).holds();
    let twice = Log::new().lives(1, 1).publish(2);
    let line = twice.line() + 1;
    let twice = twice.confirmed_as(2, 1).delivered(2, 1, 1).settles(2, "dead");
    twice.breaks(Kind::IdTwice, line);
}

/// F-18: a job that comes once more after its ack, after its dead letter, or while it rests at the end.
#[test]
fn an_extra_duplicate_is_found() {
    let good = Log::new().lives(1, 1);
    good.holds();
    good.clone().delivered(2, 1, 1).settles(2, "dead").breaks(Kind::Duplicate, good.line() + 1);
    good.clone().left(1, "waiting").breaks(Kind::Duplicate, good.line() + 1);
    let dead = Log::new().sent(1).delivered(1, 1, 1).settles(1, "dead");
    dead.clone().works(2, 1, 1).breaks(Kind::Duplicate, dead.line() + 1);
    // One retry explains one delivery.
    let retried = Log::new().sent(1).delivered(1, 1, 1).settles(1, "retry").works(2, 1, 2);
    retried.holds();
    retried.clone().delivered(3, 1, 2).settles(3, "dead").breaks(Kind::Duplicate, retried.line() + 1);
    // A cancelled job that came all the same.
    let cancelled = Log::new().sent(1).of_job("cancelled", 1);
    cancelled.holds();
    cancelled.works(1, 1, 1).breaks(Kind::Duplicate, 5);
    // A kill does not explain a job that the killed process had acked, unless acks are lazy.
    let killed =
        |log: Log| log.sent(1).by("b").works(1, 1, 1).by("a").killed("b").delivered(1, 1, 1).settles(1, "dead");
    killed(Log::new()).breaks(Kind::Duplicate, 10);
    killed(Log::claiming("\"acks\":\"lazy\"")).holds();
}

/// F-18: two deliveries of one job at once, of which neither was lost.
#[test]
fn two_open_deliveries_are_found() {
    let two = |answer: &str| {
        let open = Log::new().sent(1).delivered(1, 1, 1).started(1, 1).by("b").works(1, 1, 1);
        open.by("a").ended(1, 1, "ok").settle(1, "return").settled(1, answer)
    };
    two("lost").holds();
    // The second copy is the return's: nothing explains the first.
    two("done").left(1, "waiting").breaks(Kind::TwoOpen, 4);
    let report = Log::new().sent(1).delivered(1, 1, 1).by("b").works(1, 1, 1).breaks(Kind::TwoOpen, 4);
    assert!(report.to_string().contains("line 5"), "{report}");
}

/// F-18: more duplicates than the run allows for one kill, one cut, one lost ownership.
#[test]
fn duplicates_above_the_bound_are_found() {
    let killed = |bound: u64| {
        let log = Log::claiming(&format!("\"duplicates\":{bound}")).sent(1).sent(2);
        let log = log.by("b").delivered(1, 1, 1).delivered(2, 2, 1).by("a").killed("b");
        log.works(1, 1, 1).works(2, 2, 1)
    };
    assert_eq!(killed(2).holds().counts().duplicates, 2);
    killed(1).breaks(Kind::TooManyDuplicates, 8);
    let lost = |bound: u64| {
        let log = Log::claiming(&format!("\"duplicates\":{bound}")).sent(1).delivered(1, 1, 1).runs(1, 1);
        log.settle(1, "ack").settled(1, "lost").works(2, 1, 1)
    };
    lost(1).holds();
    lost(0).breaks(Kind::TooManyDuplicates, 8);
    let cut = |bound: u64| {
        let log = Log::claiming(&format!("\"duplicates\":{bound}")).sent(1).delivered(1, 1, 1).runs(1, 1).cut();
        log.by("b").works(1, 1, 1).by("a").settle(1, "ack").settled(1, "lost")
    };
    cut(1).holds();
    cut(0).breaks(Kind::TooManyDuplicates, 7);
}

/// F-18: a job that is acked more often than it exists.
#[test]
fn a_job_that_is_acked_twice_is_found() {
    // Its connection was cut and somebody else acked it: the ack of the first owner must be lost.
    let cut = Log::new().sent(1).delivered(1, 1, 1).runs(1, 1).cut().by("b").works(1, 1, 1).by("a");
    cut.clone().settle(1, "ack").settled(1, "lost").holds();
    cut.clone().settles(1, "ack").breaks(Kind::AckedTwice, cut.line() + 2);
}

/// F-18: a delivery that is settled twice.
#[test]
fn a_delivery_that_is_settled_twice_is_found() {
    let good = Log::new().lives(1, 1);
    good.clone().settle(1, "ack").settled(1, "lost").holds();
    good.clone().settles(1, "ack").breaks(Kind::SettledTwice, good.line() + 2);
}

/// F-18: a settle that answers done after the ownership was lost.
#[test]
fn a_settle_after_a_loss_is_found() {
    let lost = Log::new().sent(1).delivered(1, 1, 1).runs(1, 1).settle(1, "ack").settled(1, "lost").works(2, 1, 1);
    lost.holds();
    lost.clone().settles(1, "ack").breaks(Kind::DoneAfterLoss, lost.line() + 2);
    let given_up = Log::new().sent(1).delivered(1, 1, 1).gave_up(1).works(2, 1, 1);
    given_up.holds();
    given_up.clone().settles(1, "ack").breaks(Kind::DoneAfterLoss, given_up.line() + 2);
}

/// F-18: a settle of a delivery that was never handed out.
#[test]
fn a_settle_of_nothing_is_found() {
    let good = Log::new().lives(1, 1);
    good.clone().settles(2, "ack").breaks(Kind::SettledUnknown, good.line() + 1);
    // Another process's delivery is none of this one's.
    good.clone().by("b").settles(1, "ack").breaks(Kind::SettledUnknown, good.line() + 1);
}

/// F-18: an ack before the handler started, and while it runs. Without the handlers' events nobody can say.
#[test]
fn an_early_ack_is_found() {
    let got = |log: Log| log.sent(1).delivered(1, 1, 1);
    got(Log::new()).started(1, 1).settles(1, "ack").ended(1, 1, "ok").breaks(Kind::EarlyAck, 6);
    got(Log::new()).settles(1, "ack").breaks(Kind::EarlyAck, 5);
    got(Log::claiming("\"handlers\":false")).settles(1, "ack").holds();
    // An attempt that goes on in the same delivery counts for itself.
    let again = got(Log::new()).started(1, 1).ended(1, 1, "error").started(1, 2);
    again.clone().ended(1, 2, "ok").settles(1, "ack").holds();
    again.settles(1, "ack").ended(1, 2, "ok").breaks(Kind::EarlyAck, 8);
}

/// F-18: an ack after a handler that failed, panicked or was stopped.
#[test]
fn an_ack_of_a_failed_attempt_is_found() {
    for how in ["error", "panicked", "timed out", "cancelled"] {
        let log = Log::new().sent(1).delivered(1, 1, 1).started(1, 1).ended(1, 1, how);
        log.clone().settles(1, "dead").holds();
        log.settles(1, "ack").breaks(Kind::AckOfFailure, 7);
    }
}

/// F-18: a handler whose process has no such delivery.
#[test]
fn a_run_without_a_delivery_is_found() {
    let good = Log::new().lives(1, 1);
    good.clone().runs(1, 1).breaks(Kind::RanWithoutDelivery, good.line() + 1);
    good.clone().by("b").runs(1, 1).breaks(Kind::RanWithoutDelivery, good.line() + 1);
    let got = Log::new().sent(1).delivered(1, 1, 1);
    got.clone().runs(1, 1).settles(1, "dead").holds();
    // Another attempt than that of the delivery.
    got.runs(1, 2).settles(1, "dead").breaks(Kind::RanWithoutDelivery, 5);
}

/// F-18: attempts that fall, that stay after a retry, that begin above 1.
#[test]
fn wrong_attempts_are_found() {
    let returned = Log::new().sent(1).delivered(1, 1, 1).settles(1, "retry").delivered(2, 1, 2).settles(2, "return");
    returned.clone().works(3, 1, 2).holds();
    returned.clone().works(3, 1, 3).holds();
    returned.clone().works(3, 1, 1).breaks(Kind::AttemptKept, returned.line() + 1);
    let fell = Log::new().sent(1).delivered(1, 1, 1).settles(1, "retry").delivered(2, 1, 3).settles(2, "return");
    fell.clone().works(3, 1, 2).breaks(Kind::AttemptFell, fell.line() + 1);
    let retried = Log::new().sent(1).delivered(1, 1, 1).settles(1, "retry");
    retried.clone().works(2, 1, 2).holds();
    retried.clone().works(2, 1, 1).breaks(Kind::AttemptKept, retried.line() + 1);
    // The retry came before the answer did.
    let fast = Log::new().sent(1).delivered(1, 1, 1).settle(1, "retry").delivered(2, 1, 1).settled(1, "done");
    fast.clone().settles(2, "dead").breaks(Kind::AttemptKept, 6);
    Log::new().sent(1).works(1, 1, 2).breaks(Kind::FirstAttempt, 4);
    Log::new().sent(1).works(1, 1, 0).breaks(Kind::FirstAttempt, 4);
    // A killed process may have had it.
    let killed = |log: Log| log.by("b").event("\"gate\":{\"step\":\"fetched\"}").by("a").killed("b");
    killed(Log::new().sent(1)).works(1, 1, 2).holds();
    killed(Log::new()).sent(1).works(1, 1, 2).breaks(Kind::FirstAttempt, 6);
}

/// F-18: a fencing number that does not grow.
#[test]
fn a_fence_that_does_not_grow_is_found() {
    let fenced = |second: u64| {
        let log = Log::claiming("\"handlers\":false").sent(1).fenced(1, 1, 7).settles(1, "return");
        log.fenced(2, 1, second).settles(2, "ack")
    };
    fenced(8).holds();
    fenced(7).breaks(Kind::FenceFell, 7);
    fenced(6).breaks(Kind::FenceFell, 7);
}

/// F-18: a job that comes before its delay, its retry's or its return's wait is over, where the clock can be trusted.
#[test]
fn an_early_delivery_is_found() {
    let delayed = |ms: u64| Log::new().at(1_000).publish_with(1, "\"delay\":500").confirmed(1).at(ms).works(1, 1, 1);
    delayed(1_500).holds();
    delayed(1_499).breaks(Kind::EarlyDelivery, 2);
    // It came before its confirmation.
    let fast = |ms: u64| Log::new().at(1_000).publish_with(1, "\"delay\":500").at(ms).works(1, 1, 1).confirmed(1);
    fast(1_500).holds();
    fast(1_499).breaks(Kind::EarlyDelivery, 3);
    for verdict in ["retry", "return"] {
        let log = Log::new().at(1_000).sent(1).delivered(1, 1, 1).settle_after(1, verdict, 500).settled(1, "done");
        log.clone().at(1_500).works(2, 1, 2).holds();
        log.clone().at(1_499).works(2, 1, 2).breaks(Kind::EarlyDelivery, 5);
    }
    let back = Log::new().at(1_000).publish_with(1, "\"delay\":500").confirmed(1).at(900).delivered(1, 1, 1);
    let report = back.runs(1, 1).settles(1, "ack").holds();
    assert_eq!((report.clock_ran_backwards(), report.counts().unjudged), (Some(4), 1));
    assert!(report.to_string().contains("first at line 4 by 100 ms"), "{report}");
}

/// F-18: two jobs in the wrong order, where an order is claimed: one confirmed before the other was asked for, or both in one call.
#[test]
fn a_swapped_order_is_found() {
    let swapped =
        |order: &str| Log::claiming(&format!("\"order\":\"{order}\"")).sent(1).sent(2).works(1, 2, 1).works(2, 1, 1);
    Log::claiming("\"order\":\"queue\"").sent(1).sent(2).works(1, 1, 1).works(2, 2, 1).holds();
    swapped("none").holds();
    swapped("queue").breaks(Kind::Swapped, 11);
    swapped("producer").breaks(Kind::Swapped, 11);
    // No key, no order.
    swapped("key").holds();
    let keyed = |other: &str| {
        let log = Log::claiming("\"order\":\"key\"").publish_with(1, "\"key\":\"x\"").confirmed(1);
        let log = log.publish_with(2, &format!("\"key\":\"{other}\"")).confirmed(2);
        log.works(1, 2, 1).works(2, 1, 1)
    };
    keyed("y").holds();
    keyed("x").breaks(Kind::Swapped, 11);
    // Both were on their way: nobody knows which was first.
    let beside = Log::claiming("\"order\":\"queue\"").publish(1).publish(2).confirmed(1).confirmed(2);
    beside.works(1, 2, 1).works(2, 1, 1).holds();
    let call = |first: u64, second: u64| {
        let log = Log::claiming("\"order\":\"queue\"").publish_with(1, "\"call\":1").publish_with(2, "\"call\":1");
        log.confirmed(1).confirmed(2).works(1, first, 1).works(2, second, 1)
    };
    call(1, 2).holds();
    call(2, 1).breaks(Kind::Swapped, 11);
    // The deliveries of a call are faster than its confirmations.
    let fast = |first: u64, second: u64| {
        let log = Log::claiming("\"order\":\"queue\"").publish_with(1, "\"call\":1").publish_with(2, "\"call\":1");
        log.works(1, first, 1).works(2, second, 1).confirmed(1).confirmed(2)
    };
    fast(1, 2).holds();
    fast(2, 1).breaks(Kind::Swapped, 9);
    // The second was delivered before its confirmation was noted, and the first since then.
    let late = Log::claiming("\"order\":\"queue\"").sent(1).publish(2).works(1, 2, 1).works(2, 1, 1).confirmed(2);
    late.breaks(Kind::Swapped, 10);
    // Only first deliveries, of one priority, without a delay, and where no process was killed meanwhile.
    let retried = Log::claiming("\"order\":\"queue\"").sent(1).sent(2).delivered(1, 1, 1).settles(1, "retry");
    retried.works(2, 2, 1).works(3, 1, 2).holds();
    let urgent = Log::claiming("\"order\":\"queue\"").sent(1).publish_with(2, "\"prio\":3").confirmed(2);
    urgent.works(1, 2, 1).works(2, 1, 1).holds();
    let delayed = Log::claiming("\"order\":\"queue\"").publish_with(1, "\"delay\":1").confirmed(1).sent(2);
    delayed.works(1, 2, 1).works(2, 1, 1).holds();
    let killed = Log::claiming("\"order\":\"queue\"").sent(1).sent(2).by("b").event("\"gate\":{\"step\":\"fetched\"}");
    killed.by("a").works(1, 2, 1).works(2, 1, 1).killed("b").holds();
}

/// F-18: a process that ends in order with something open.
#[test]
fn what_an_end_in_order_leaves_open_is_found() {
    Log::new().lives(1, 1).closed().holds();
    let open = Log::new().sent(1).delivered(1, 1, 1).closed().report();
    assert_eq!((open.count(Kind::LeftOpen), open.count(Kind::Lost)), (1, 1), "{open}");
    let report = Log::new().lives(1, 1).publish(2).closed().breaks(Kind::LeftOpen, 10);
    assert!(report.to_string().contains("1 publishes without an answer and 0 deliveries"), "{report}");
}
