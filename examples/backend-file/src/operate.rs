//! What an operator asks: counts and dead letters.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use queue_core::wire::{self, Head};
use queue_core::{Cause, Codec, DeadLetter, DeadLetters, Inspection, Inspects, JobId, Page, Reason, WorkerError};

use crate::claim::read;
use crate::message::Message;
use crate::name::Name;
use crate::spool::{DEAD, READY, Spool, WAITING};
use crate::worker::FileWorker;

impl<J: Send + 'static, C: Codec<J>> Inspects for FileWorker<J, C> {
    async fn inspect(&self) -> Result<Inspection, WorkerError> {
        self.on_disk("a count", |spool| count(spool)).await
    }
}

fn count(spool: &Spool) -> io::Result<Inspection> {
    let ready = spool.list(READY)?;
    let mut counts = Inspection::default();
    counts.ready = ready.len() as u64;
    counts.waiting = spool.list(WAITING)?.len() as u64;
    counts.unsettled = Some(spool.held()?);
    counts.dead = spool.list(DEAD)?.len() as u64;
    let first = ready.iter().find_map(|file| Name::parse(file)).map(|name| name.seq);
    counts.oldest = first.map(|seq| Duration::from_micros(spool.number().saturating_sub(seq)));
    Ok(counts)
}

impl<J: Send + 'static, C: Codec<J>> DeadLetters for FileWorker<J, C> {
    async fn dead_letters(&self, page: Page) -> Result<Vec<DeadLetter<Self::Payload>>, WorkerError> {
        let letters = self.on_disk("a look at the dead letters", move |spool| listed(spool, page)).await?;
        let letters = letters.into_iter().map(|(message, mut head)| {
            let mut meta = head.meta(&self.clock, 0);
            // Of a dead letter it is the number that was spent, and not the next.
            meta.attempt -= 1;
            let cause = cause(&message);
            DeadLetter { meta, cause, payload: Some(self.payload(message, head)) }
        });
        Ok(letters.collect())
    }

    async fn replay(&self, id: JobId) -> Result<bool, WorkerError> {
        self.on_disk("a replay", move |spool| replay(spool, id)).await
    }

    async fn discard(&self, id: JobId) -> Result<bool, WorkerError> {
        self.on_disk("a discard", move |spool| match dead(spool, id)? {
            Some(name) => spool.removed(&spool.path(DEAD, &name)),
            None => Ok(false),
        })
        .await
    }
}

fn names(spool: &Spool) -> io::Result<impl Iterator<Item = Name>> {
    Ok(spool.list(DEAD)?.into_iter().filter_map(|file| Name::parse(&file)))
}

fn dead(spool: &Spool, id: JobId) -> io::Result<Option<Name>> {
    Ok(names(spool)?.find(|name| name.id == id))
}

fn listed(spool: &Arc<Spool>, page: Page) -> io::Result<Vec<(Message, Head)>> {
    let page = names(spool)?.skip(page.skip).take(page.limit);
    // One that was replayed or discarded meanwhile is no error.
    Ok(page.filter_map(|name| read(&spool.path(DEAD, &name), name).ok()).collect())
}

/// First the copy, then the original, as for a dead letter's way in.
fn replay(spool: &Spool, id: JobId) -> io::Result<bool> {
    let Some(name) = dead(spool, id)? else { return Ok(false) };
    let letter = spool.path(DEAD, &name);
    let (mut message, _) = read(&letter, name)?;
    message.pairs.retain(|(name, _)| ![wire::REASON, wire::ERROR, wire::ORIGIN].contains(&&**name));
    message.set(vec![(wire::ATTEMPTS.into(), Bytes::from_static(b"0"))]);
    let again = Name { seq: spool.number(), ..name };
    spool.write(&message.encode(), &spool.path(READY, &again))?;
    spool.sync(READY)?;
    spool.wake();
    spool.removed(&letter)
}

fn cause(message: &Message) -> Cause {
    let (said, error) = (message.text(wire::REASON), message.text(wire::ERROR));
    let reason = said.and_then(|said| said.parse().ok());
    Cause { reason: reason.unwrap_or(Reason::Permanent), error: error.unwrap_or_default().into() }
}
