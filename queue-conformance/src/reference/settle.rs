//! How a verdict is told.

use std::time::Duration;

use queue_core::{
    DeliveryOf, JobId, Payload, Reason, Settled, Settling, SettlingOf, UnsettledOf, Verdict, WorkerError, wire,
};
use tokio::time::Instant;

use super::consumer::Consumer;
use super::line::{Held, Store, at_once, known_as, without_headers};
use super::server::Weather;
use crate::broken::Defect;

impl Consumer {
    pub(super) async fn tell(&self, batch: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        if self.has(Defect::AnswersBeforeTelling) && !batch.iter().any(|it| self.is_stale(it)) {
            return self.answer_first(batch).await;
        }
        self.server.wait_until(|| self.is_heard()).await;
        if batch.is_empty() && self.has(Defect::FailsOnNothing) {
            return Err(WorkerError::fatal("a batch needs at least one verdict"));
        }
        if Weather::spend(&mut self.server.weather.lock().fail_settles) {
            if self.has(Defect::SwallowsSettleErrors) {
                batch.iter_mut().for_each(|settling| drop(settling.answer(Settled::Done)));
                return Ok(());
            }
            return Err(WorkerError::reconnect("the connection was lost on the way"));
        }
        if self.has(Defect::LeavesVerdictsOpen) && self.is_closed() {
            return Ok(());
        }
        let spoilt =
            self.has(Defect::OneStaleSpoilsBatch) && batch.len() > 1 && batch.iter().any(|it| self.is_stale(it));
        let early = self.has(Defect::AcksBeforeCopy) || (batch.len() > 1 && self.has(Defect::BatchAcksBeforeCopies));
        for settling in batch.iter_mut().filter(|settling| settling.asked().is_some()) {
            if spoilt {
                drop(settling.answer(Settled::LostOwnership));
            } else {
                self.tell_one(settling, early)?;
            }
        }
        self.server.changed.notify_waiters();
        Ok(())
    }

    /// Its answers come before the broker has heard the verdicts: dropped in between they are never told.
    async fn answer_first(&self, batch: &mut [SettlingOf<Self>]) -> Result<(), WorkerError> {
        let told: Vec<_> = batch.iter_mut().filter_map(|settling| settling.answer(Settled::Done)).collect();
        self.server.wait_until(|| self.is_heard()).await;
        for (unsettled, verdict) in told {
            self.tell_one(&mut Settling::new(unsettled, verdict), false)?;
        }
        self.server.changed.notify_waiters();
        Ok(())
    }

    fn is_stale(&self, settling: &SettlingOf<Self>) -> bool {
        let tag = settling.asked().map(|(unsettled, _)| unsettled.receipt.tag);
        tag.is_some_and(|tag| !self.line.held.lock().contains_key(&tag))
    }

    fn tell_one(&self, settling: &mut SettlingOf<Self>, early: bool) -> Result<(), WorkerError> {
        let Some((unsettled, verdict)) = settling.asked() else { return Ok(()) };
        let copies = !matches!(verdict, Verdict::Ack);
        let drops = matches!(verdict, Verdict::Dead { .. }) && self.has(Defect::DropsDead);
        let (full, loses) = (self.server.weather.lock().full, early || drops);
        if copies && full && !loses {
            return Err(WorkerError::retry("the broker stores nothing now"));
        }
        let (tag, id) = (unsettled.receipt.tag, unsettled.meta.id);
        let Some(held) = self.line.held.lock().remove(&tag) else { return self.tell_stale(settling, id) };
        let Some((unsettled, verdict)) = settling.answer(Settled::Done) else { return Ok(()) };
        if self.has(Defect::AcksAllBelow) && verdict == Verdict::Ack && unsettled.meta.attempt == 1 {
            self.line.held.lock().retain(|other, held| *other > tag || held.consumer != self.number);
        }
        if verdict == Verdict::Ack {
            self.line.finished.lock().insert(id);
        }
        if !(copies && full) {
            self.carry_out(held, &unsettled, verdict);
        }
        Ok(())
    }

    /// Whoever held it does no more: somebody else has it, or has finished it.
    fn tell_stale(&self, settling: &mut SettlingOf<Self>, id: JobId) -> Result<(), WorkerError> {
        let mut lines = self.line.held.lock();
        let elsewhere = lines.iter().find(|(_, held)| held.delivery.as_ref().is_some_and(|it| it.meta.id == id));
        let elsewhere = elsewhere.map(|(tag, _)| *tag);
        let retries = matches!(settling.asked(), Some((_, Verdict::Retry { .. })));
        let settled = match elsewhere {
            Some(_) if self.has(Defect::StaleSettleFails) => {
                return Err(WorkerError::retry("unknown delivery tag"));
            }
            Some(tag) if self.has(Defect::StaleSettleWins) || (retries && self.has(Defect::StaleRetryWins)) => {
                lines.remove(&tag);
                Settled::Done
            }
            None if self.has(Defect::GoneAnswersDone) && self.line.finished.lock().contains(&id) => Settled::Done,
            _ => Settled::LostOwnership,
        };
        drop(lines);
        drop(settling.answer(settled));
        Ok(())
    }

    fn carry_out(&self, held: Held, unsettled: &UnsettledOf<Self>, verdict: Verdict) {
        let Some(mut delivery) = held.delivery else { return };
        let id = delivery.meta.id;
        let verdict = match verdict {
            Verdict::Retry { after } if self.has(Defect::RetryDropsHeaders) => {
                return self.retry_bare(delivery, unsettled.meta.attempt, after);
            }
            Verdict::Retry { after } if self.has(Defect::StopsCountingAtThree) && unsettled.meta.attempt >= 3 => {
                Verdict::Return { after }
            }
            Verdict::Retry { after } => {
                let early = self.has(Defect::RetryComesEarly);
                let after = if early { Duration::ZERO } else { after };
                if self.has(Defect::RetriesReplaceEachOther) && !after.is_zero() {
                    self.replace_retry(id, after);
                }
                if self.has(Defect::RetryWaitDiesWithConsumer) {
                    self.line.private.lock().push((self.number, id));
                }
                if self.has(Defect::RetryKeepsAttempt) { Verdict::Return { after } } else { Verdict::Retry { after } }
            }
            Verdict::Return { .. } if self.has(Defect::ReturnLosesJob) => return,
            Verdict::Return { .. } if self.has(Defect::ReturnComesEarly) => Verdict::Return { after: Duration::ZERO },
            Verdict::Return { after } if self.has(Defect::ReturnSpendsAttempt) => Verdict::Retry { after },
            Verdict::Dead { mut cause } => {
                if self.has(Defect::ForgetsCause) {
                    cause.error = "".into();
                    cause.reason = Reason::Permanent;
                }
                if self.has(Defect::EmptiesUndecodable) && cause.reason == Reason::Undecodable {
                    return self.line.bury_empty(delivery, *cause);
                }
                delivery.meta.attempt = unsettled.meta.attempt;
                Verdict::Dead { cause }
            }
            verdict => verdict,
        };
        let settled = matches!(verdict, Verdict::Ack) && self.has(Defect::RedeliversSettled);
        if settled {
            self.line.remember(self.number, delivery);
        } else {
            self.line.carry_out(delivery, verdict);
        }
    }

    /// A copy of the body, without the headers.
    fn retry_bare(&self, delivery: DeliveryOf<Store>, spent: u32, after: Duration) {
        let id = delivery.meta.id;
        let Ok(mut message) = delivery.payload.take(false).0 else { return };
        without_headers(&mut message);
        message.pairs.retain(|(name, _)| &**name != wire::ATTEMPTS);
        message.pairs.push((wire::ATTEMPTS.into(), spent.to_string().into()));
        let mut extra = known_as(id);
        extra.delay = Some(after).filter(|after| !after.is_zero());
        let _stored = at_once(self.line.push(message, extra));
    }

    /// The retry that waits for the same moment is gone.
    fn replace_retry(&self, id: JobId, after: Duration) {
        let due = Instant::now() + after;
        let mut retries = self.line.retries.lock();
        for (_, other) in retries.extract_if(.., |(at, other)| *at == due && *other != id) {
            drop(at_once(queue_core::Cancels::cancel(&self.line.store, other)));
        }
        retries.push((due, id));
    }
}
