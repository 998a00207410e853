//! How the worker hears of a verdict, and what is counted of its answer.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use queue_core::{Backoff, ErrorClass, Settled, SettlingOf, Verdict, Worker, WorkerError};

use super::{Counters, Slot};
use crate::control::Phase;
use crate::engine::Shared;

/// Which verdict was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ack,
    Retry,
    Dead,
    Return,
}

impl Kind {
    #[inline]
    pub(super) const fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Ack => Self::Ack,
            Verdict::Retry { .. } => Self::Retry,
            Verdict::Dead { .. } => Self::Dead,
            Verdict::Return { .. } => Self::Return,
        }
    }

    #[inline]
    pub(super) fn count(self, counters: &Counters, settled: Settled) {
        match (self, settled) {
            (Self::Ack, Settled::Done) => counters.acked.add(1),
            (Self::Retry, Settled::Done) => counters.retried.add(1),
            (Self::Dead, Settled::Done) => counters.dead.add(1),
            (Self::Return, Settled::Done) => counters.returned.add(1),
            (Self::Retry | Self::Return, Settled::Gone) => counters.gone.add(1),
            _ => counters.lost.add(1),
        }
    }
}

/// The waits between two tries to reach the broker.
const BACKOFF: Backoff = Backoff::exponential().max(Duration::from_secs(5));

/// One call of the worker. None: it did not end while a shutdown had time for it.
async fn ask<W: Worker>(
    shared: &Shared<W>,
    slot: &Slot,
    settling: &mut SettlingOf<W>,
) -> Option<Result<(), WorkerError>> {
    let mut call = pin!(shared.worker().settle(std::slice::from_mut(settling)));
    poll_fn(|cx| {
        let answer = call.as_mut().poll(cx);
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
pub(super) async fn settle<W: Worker>(shared: &Shared<W>, slot: &Slot, settling: &mut SettlingOf<W>) {
    let Some(kind) = settling.asked().map(|(_, verdict)| Kind::of(verdict)) else { return };
    let counters = &slot.counters;
    let mut tries = 0;
    loop {
        let answer = ask(shared, slot, settling).await;
        if let Some(settled) = settling.answered() {
            return kind.count(counters, settled);
        }
        let Some(Err(error)) = answer else { return kind.count(counters, Settled::LostOwnership) };
        tracing::warn!(error = %error, "A verdict did not reach the broker.");
        if error.class() == ErrorClass::Fatal || shared.control.phase() >= Phase::Cancelling {
            return kind.count(counters, Settled::LostOwnership);
        }
        tries += 1;
        super::task::pause(shared, slot, BACKOFF.wait(tries), Phase::Cancelling).await;
    }
}
