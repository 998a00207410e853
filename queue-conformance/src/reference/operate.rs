//! What an operator asks a consumer: counts, dead letters, cancel, pause.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use queue_core::wire::Head;
use queue_core::{
    Cancels, DeadLetter, DeadLetters, Delays, Encoded, Inspection, Inspects, JobId, Leases, Meta, Page, Pauses,
    Payload, Priorities, Retries, WorkerError,
};

use super::consumer::Consumer;
use super::line::{Message, Store};
use crate::broken::Defect;
use crate::{AnyCodec, Job};

impl Retries for Consumer {}
impl Delays for Consumer {}
impl Priorities for Consumer {}
impl Leases for Consumer {}

type Stored = <Store as queue_core::Worker>::Payload;

impl Consumer {
    fn encoded(&self, payload: Option<Stored>) -> Option<(Message, Encoded<Job, AnyCodec>)> {
        let message = payload?.take(false).0.ok()?;
        let head = Head::read(message.pairs.iter().map(|(name, value)| (&**name, value.clone())));
        let payload = Encoded::new(self.codec.clone(), message.body.clone()).with_content_type(head.content_type);
        Some((message, payload))
    }

    fn letter(&self, letter: DeadLetter<Stored>) -> DeadLetter<Encoded<Job, AnyCodec>> {
        let DeadLetter { meta, cause, payload } = letter;
        let (mut headers, mut job) = (None, None);
        if let Some((message, payload)) = self.encoded(payload) {
            let mut head = Head::read(message.pairs.iter().map(|(name, value)| (&**name, value.clone())));
            headers = head.meta(&self.clock, 0).extra;
            job = Some(payload);
        }
        DeadLetter { meta: Meta { extra: headers, ..meta }, cause, payload: job }
    }
}

impl Inspects for Consumer {
    async fn inspect(&self) -> Result<Inspection, WorkerError> {
        let mut counts = self.line.store.inspect().await?;
        let held = self.line.held.lock().len() as u64;
        counts.unsettled = Some(held);
        if self.has(Defect::HeldCountedReady) {
            counts.ready += held;
        }
        if self.has(Defect::WaitingNotCounted) {
            counts.waiting = 0;
        }
        if self.has(Defect::DeadNotCounted) {
            counts.dead = 0;
        }
        Ok(counts)
    }
}

impl DeadLetters for Consumer {
    async fn dead_letters(&self, page: Page) -> Result<Vec<DeadLetter<Self::Payload>>, WorkerError> {
        let page = if self.has(Defect::IgnoresPage) { Page::first(usize::MAX) } else { page };
        let letters = self.line.store.dead_letters(page).await?;
        let letters: Vec<_> = letters.into_iter().map(|letter| self.letter(letter)).collect();
        if self.has(Defect::ListingSpends) {
            for letter in &letters {
                self.line.store.discard(letter.meta.id).await?;
            }
        }
        Ok(letters)
    }

    async fn replay(&self, id: JobId) -> Result<bool, WorkerError> {
        let badly = [Defect::ReplayKeepsAttempts, Defect::ReplayDropsHeaders, Defect::ReplayKeepsLetter];
        if badly.into_iter().any(|defect| self.has(defect)) {
            return self.line.replay_badly(&self.server, id).await;
        }
        self.line.store.replay(id).await
    }

    async fn discard(&self, id: JobId) -> Result<bool, WorkerError> {
        if self.has(Defect::DiscardsNothing) {
            return Ok(true);
        }
        self.line.store.discard(id).await
    }
}

impl Cancels for Consumer {
    async fn cancel(&self, id: JobId) -> Result<Option<Self::Payload>, WorkerError> {
        if self.has(Defect::ClaimsCancel) {
            return Ok(None);
        }
        let cancelled = self.line.store.cancel(id).await?;
        if cancelled.is_none() && self.has(Defect::CancelsRunning) {
            return Ok(Some(Encoded::new(self.codec.clone(), Arc::<[u8]>::default().to_vec().into())));
        }
        Ok(self.encoded(cancelled).map(|(_, payload)| payload))
    }
}

impl Pauses for Consumer {
    async fn pause(&self) -> Result<(), WorkerError> {
        if self.has(Defect::PausesOnlyItself) {
            self.paused.store(true, Ordering::Release);
            return Ok(());
        }
        self.line.store.pause().await
    }

    async fn unpause(&self) -> Result<(), WorkerError> {
        self.paused.store(false, Ordering::Release);
        self.line.store.unpause().await?;
        self.server.changed.notify_waiters();
        Ok(())
    }

    async fn is_paused(&self) -> Result<bool, WorkerError> {
        if self.has(Defect::PausesOnlyItself) {
            return Ok(self.paused.load(Ordering::Acquire));
        }
        self.line.store.is_paused().await
    }
}
