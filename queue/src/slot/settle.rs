//! How the worker hears of a verdict, and what is counted of its answer.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use queue_core::{Backoff, ErrorClass, Reason, Settled, SettlingOf, Verdict, Worker, WorkerError};

use super::{Counters, Slot};
use crate::completion::Fate;
use crate::control::Phase;
use crate::engine::Shared;
use crate::panic;

/// Which verdict was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ack,
    Retry,
    Dead(Reason),
    Return,
}

impl Kind {
    #[inline]
    pub(super) const fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Ack => Self::Ack,
            Verdict::Retry { .. } => Self::Retry,
            Verdict::Dead { cause } => Self::Dead(cause.reason),
            Verdict::Return { .. } => Self::Return,
        }
    }

    /// Counts the worker's answer, and says what becomes of the job.
    #[inline]
    pub(super) fn count(self, counters: &Counters, settled: Settled) -> Fate {
        let (count, fate) = match (self, settled) {
            (Self::Ack, Settled::Done) => (&counters.acked, Fate::Done),
            (Self::Retry, Settled::Done) => (&counters.retried, Fate::Retried),
            (Self::Dead(reason), Settled::Done) => (&counters.dead, Fate::Dead(reason)),
            (Self::Return, Settled::Done) => (&counters.returned, Fate::Returned),
            (Self::Retry | Self::Return, Settled::Gone) => (&counters.gone, Fate::Gone),
            _ => (&counters.lost, Fate::Lost),
        };
        count.add(1);
        fate
    }
}

/// The waits between two tries to reach the broker.
const BACKOFF: Backoff = Backoff::exponential().max(Duration::from_secs(5));

/// A poll of the worker. Its panic is an error like any other: the slot goes on.
pub(super) fn contained<T>(call: &str, poll: impl FnOnce() -> T) -> Result<T, WorkerError> {
    catch_unwind(AssertUnwindSafe(poll)).map_err(|payload| {
        let place = panic::take_location().map(|place| format!(" at {place}")).unwrap_or_default();
        WorkerError::retry(format!("the worker panicked in `{call}`{place}: {}", panic::message(payload)))
    })
}

/// One call of the worker. None: it did not end while a shutdown had time for it.
async fn ask<W: Worker>(
    shared: &Shared<W>,
    slot: &Slot,
    settling: &mut SettlingOf<W>,
) -> Option<Result<(), WorkerError>> {
    let mut call = pin!(shared.worker().settle(std::slice::from_mut(settling)));
    poll_fn(|cx| {
        let answer = contained("settle", || call.as_mut().poll(cx)).unwrap_or_else(|error| Poll::Ready(Err(error)));
        if answer.is_pending() {
            shared.starts_nothing(slot);
            if shared.control.phase() == Phase::GivingUp {
                return Poll::Ready(None);
            }
        }
        answer.map(Some)
    })
    .await
}

/// Asks until the worker answers. Given up only where nobody can help, or a shutdown has no more time: the broker then
/// hands the job out again.
pub(super) async fn settle<W: Worker>(shared: &Shared<W>, slot: &Slot, settling: &mut SettlingOf<W>) -> Fate {
    let Some(kind) = settling.asked().map(|(_, verdict)| Kind::of(verdict)) else { return Fate::Lost };
    let counters = &slot.counters;
    let mut tries = 0;
    loop {
        let answer = ask(shared, slot, settling).await;
        if let Some(settled) = settling.answered() {
            if tries > 0 {
                shared.monitor.recovered();
            }
            return kind.count(counters, settled);
        }
        let Some(Err(error)) = answer else { return kind.count(counters, Settled::LostOwnership) };
        shared.monitor.failed(&error, "A verdict did not reach the broker.");
        if error.class() == ErrorClass::Fatal || shared.control.phase() >= Phase::Cancelling {
            return kind.count(counters, Settled::LostOwnership);
        }
        tries += 1;
        super::task::pause(shared, slot, BACKOFF.wait(tries), Phase::Cancelling).await;
    }
}
