//! Dead letters: a bounded list, the oldest dropped first.

use std::collections::VecDeque;
use std::sync::Arc;

use queue_core::{Cause, DeadLetter, JobId, Page, Payload, Unsettled};

use crate::sync::Mutex;
use crate::{Mode, Own};

/// A dead letter behind a lock of its own: it is cloned for a listing without the ring's lock, for a clone is user code.
pub(crate) type Letter<P> = Arc<Mutex<DeadLetter<P>>>;

#[derive(Debug)]
pub(crate) struct Dead<P> {
    letters: VecDeque<(JobId, Letter<P>)>,
    limit: usize,
    dropped: u64,
}

impl<P> Dead<P> {
    pub(crate) const fn new(limit: usize) -> Self {
        Self { letters: VecDeque::new(), limit, dropped: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.letters.len()
    }

    /// How many were dropped because there were too many.
    pub(crate) const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Keeps a letter; what falls out comes back, to be dropped without the ring's lock.
    #[must_use]
    pub(crate) fn push(&mut self, id: JobId, letter: Letter<P>) -> Option<Letter<P>> {
        if self.limit == 0 {
            self.dropped += 1;
            return Some(letter);
        }
        let oldest = if self.letters.len() == self.limit { self.letters.pop_front() } else { None };
        self.dropped += u64::from(oldest.is_some());
        self.letters.push_back((id, letter));
        oldest.map(|(_, letter)| letter)
    }

    pub(crate) fn page(&self, page: Page) -> Vec<Letter<P>> {
        self.letters.iter().skip(page.skip).take(page.limit).map(|(_, letter)| letter.clone()).collect()
    }

    pub(crate) fn find(&self, id: JobId) -> Option<Letter<P>> {
        self.letters.iter().find(|(other, _)| *other == id).map(|(_, letter)| letter.clone())
    }

    pub(crate) fn remove(&mut self, id: JobId) -> Option<Letter<P>> {
        let index = self.letters.iter().position(|(other, _)| *other == id)?;
        self.letters.remove(index).map(|(_, letter)| letter)
    }
}

pub(crate) fn letter<P>(unsettled: Unsettled<P, ()>, cause: Cause) -> Letter<P> {
    Arc::new(Mutex::new(DeadLetter { meta: unsettled.meta, cause, payload: unsettled.payload }))
}

/// A copy of the letter, with a clone of its job where jobs are cloned; a job that is moved stays in its letter.
pub(crate) fn copy<J, M: Mode>(letter: &Letter<Own<J, M>>) -> DeadLetter<Own<J, M>>
where
    Own<J, M>: Payload<Job = J>,
{
    let mut letter = letter.lock();
    let payload = if M::RETRIES { letter.payload.take() } else { None };
    let copied = payload.and_then(|payload| {
        let (job, kept) = payload.take(true);
        letter.payload = kept;
        job.ok().map(Own::new)
    });
    DeadLetter { meta: letter.meta.clone(), cause: letter.cause.clone(), payload: copied }
}
