//! How a job is published.

use std::sync::atomic::Ordering;

use queue_core::wire::{self, Pairs};
use queue_core::{Entry, Extra, JobId, Refusal, WorkerError};
use tokio::time::sleep;

use super::consumer::{Consumer, first_number};
use super::line::{Message, known_as};
use super::server::{CONFIRM_WITHIN, Weather};
use crate::broken::Defect;
use crate::{AnyCodec, Job};

/// What the broker says to one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Yes,
    No,
    Nothing,
}

impl Consumer {
    pub(super) async fn publish(&self, jobs: &mut [Entry<Job>]) -> Result<(), WorkerError> {
        let mut first = None;
        if self.has(Defect::SendsBatchesBackwards) && jobs.len() > 10 {
            jobs.reverse();
        }
        if jobs.is_empty() && self.has(Defect::FailsOnNothing) {
            return Err(WorkerError::fatal("a batch needs at least one message"));
        }
        let again = self.has(Defect::AnswersAgain);
        for entry in jobs.iter_mut().filter(|entry| entry.is_open() || (again && entry.job().is_some())) {
            if self.takes_no_more() {
                entry.refuse(Refusal::Closed);
                continue;
            }
            let away = self.server.weather.lock().away || self.gave_up;
            if away && !self.has(Defect::AcceptsWhileAway) {
                return Err(self.away());
            }
            let id = self.id_for(entry.extra());
            let Some((message, extra)) = self.written(entry, id) else { continue };
            if !self.has(Defect::SendsBeforeSaying) {
                entry.unconfirmed(id);
            }
            if self.link.is_silent() {
                sleep(CONFIRM_WITHIN).await;
                continue;
            }
            let said = self.store(message, extra).await;
            let said = if self.has(Defect::FirstAnswerForAll) { *first.get_or_insert(said) } else { said };
            self.answer(entry, id, said).await;
        }
        Ok(())
    }

    fn takes_no_more(&self) -> bool {
        let closed = if self.has(Defect::CloseKeepsIntake) { self.has_ended() } else { self.is_closed() };
        closed && !self.has(Defect::AcceptsAfterShutdown)
    }

    fn id_for(&self, extra: Option<&Extra>) -> JobId {
        let asked = extra.and_then(|extra| extra.id).filter(|_| !self.has(Defect::NewIdOnResend));
        if self.has(Defect::ProducersNumberAlike) {
            return asked.unwrap_or_else(|| first_number(&self.published));
        }
        asked.unwrap_or_else(|| self.ids.lock().take())
    }

    /// The message, or the entry is refused.
    fn written(&self, entry: &mut Entry<Job>, id: JobId) -> Option<(Message, Extra)> {
        let mut can = self.capabilities.clone();
        if self.has(Defect::SendsTooLarge) {
            can.max_body = None;
        }
        if self.has(Defect::RefusesAtLimit) {
            can.max_body = can.max_body.map(|limit| limit - 1);
        }
        let asked = entry.extra().cloned().unwrap_or_default();
        let ignores = self.has(Defect::AcceptsAndIgnores);
        let (body, pairs) = match wire::encode(&self.codec, entry, id, &can) {
            Ok(written) => written,
            Err(Refusal::Unsupported(_)) if ignores => {
                let plain = Entry::new(entry.job()?.clone());
                wire::encode(&self.codec, &plain, id, &can).ok()?
            }
            Err(refusal) => {
                entry.refuse(refusal);
                return None;
            }
        };
        let (body, pairs) = self.garbled(body, pairs);
        let mut extra = known_as(id);
        extra.delay = asked.delay;
        extra.priority = if self.has(Defect::IgnoresPriority) || ignores { 0 } else { asked.priority };
        if self.has(Defect::IgnoresDelay) {
            extra.delay = None;
        }
        if self.has(Defect::CutsLongDelays) {
            extra.delay = extra.delay.map(|delay| delay.min(std::time::Duration::from_secs(25)));
        }
        Some((Message { body: body.into(), pairs, name: self.line.next_name() }, extra))
    }

    /// What a broken worker makes of body and metadata.
    fn garbled(&self, mut body: Vec<u8>, mut pairs: Pairs) -> (Vec<u8>, Pairs) {
        if self.has(Defect::WrapsBody) {
            body = [b"wrapped:", &*body].concat();
        }
        if self.has(Defect::TreatsBodiesAsText) && !matches!(self.codec, AnyCodec::Raw) {
            body = String::from_utf8_lossy(&body).into_owned().into_bytes();
        }
        let is_users = |name: &str| !name.starts_with("jobqueue-") && name != wire::CONTENT_TYPE;
        if self.has(Defect::OmitsVersion) {
            pairs.retain(|(name, _)| &**name != wire::VERSION);
        }
        if self.has(Defect::DropsDeadline) {
            pairs.retain(|(name, _)| &**name != wire::DEADLINE_MS);
        }
        if self.has(Defect::DropsHeaders) {
            pairs.retain(|(name, _)| !is_users(name));
        }
        if self.has(Defect::DropsBinaryHeaders) {
            pairs.retain(|(name, value)| !is_users(name) || std::str::from_utf8(value).is_ok());
        }
        (body, pairs)
    }

    async fn store(&self, message: Message, extra: Extra) -> Said {
        let gone = self.line.deleted.load(Ordering::Acquire);
        let loses = {
            let mut weather = self.server.weather.lock();
            if Weather::spend(&mut weather.refuse) || weather.full || gone {
                return Said::No;
            }
            Weather::spend(&mut weather.lose_confirms)
        };
        // Relaxed: only the number matters.
        let count = self.published.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_multiple_of(100) && self.has(Defect::LosesEveryHundredth) {
            return Said::Yes;
        }
        let delayed = extra.delay.is_some();
        if count.is_multiple_of(10) && self.has(Defect::DeliversTwice) {
            self.line.push(message.clone(), extra.clone()).await;
        }
        let stored = self.line.push(message, extra).await;
        if let Some(id) = stored.filter(|_| delayed && self.has(Defect::DelayedDieWithProducer)) {
            self.line.private.lock().push((self.number, id));
        }
        match stored {
            None => Said::No,
            Some(_) if loses => Said::Nothing,
            Some(_) => Said::Yes,
        }
    }

    async fn answer(&self, entry: &mut Entry<Job>, id: JobId, said: Said) {
        let rejected = || Refusal::Rejected(WorkerError::retry("the broker stores nothing now"));
        if said == Said::Yes || (said == Said::No && self.has(Defect::SwallowsRefusal)) {
            drop(entry.accept(id));
        } else if said == Said::No {
            if let Some(job) = entry.job().filter(|_| self.has(Defect::RefusalDropsHeaders)) {
                *entry = Entry::new(job.clone());
            }
            entry.refuse(if self.line.deleted.load(Ordering::Acquire) { Refusal::Unroutable } else { rejected() });
        } else {
            if self.has(Defect::WaitsForConfirmForever) {
                std::future::pending::<()>().await;
            }
            sleep(CONFIRM_WITHIN).await;
            entry.unconfirmed(id);
            if self.has(Defect::CallsUnconfirmedRefused) {
                entry.refuse(rejected());
            }
        }
    }
}
