//! Enqueuers that wait for room.

use std::collections::VecDeque;
use std::task::{Context, Waker};

/// How many are woken before the lock is taken again.
const AT_ONCE: usize = 16;

/// The waiting enqueuers, the longest waiting first.
#[derive(Debug)]
pub(crate) struct Senders {
    /// By ticket, which only grows.
    waiting: VecDeque<(u64, Waker)>,
    next: u64,
}

/// Wakers that were taken out under the lock. Fixed in size, so that waking allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Woken([Option<Waker>; AT_ONCE]);

impl Woken {
    pub(crate) fn len(&self) -> usize {
        self.0.iter().flatten().count()
    }

    /// To be called without the lock.
    pub(crate) fn wake(self) {
        self.0.into_iter().flatten().for_each(Waker::wake);
    }
}

impl Senders {
    pub(crate) const fn new() -> Self {
        Self { waiting: VecDeque::new(), next: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The enqueuer waits, behind all others if it was woken since.
    pub(crate) fn wait(&mut self, ticket: &mut Option<u64>, cx: &Context<'_>) {
        if let Some(index) = ticket.and_then(|ticket| self.index(ticket)) {
            let waker = &mut self.waiting[index].1;
            if !waker.will_wake(cx.waker()) {
                *waker = cx.waker().clone();
            }
            return;
        }
        *ticket = Some(self.next);
        self.waiting.push_back((self.next, cx.waker().clone()));
        self.next += 1;
    }

    /// The enqueuer waits no more. Its waker, to be dropped without the lock; none if it had been woken.
    #[must_use]
    pub(crate) fn forget(&mut self, ticket: u64) -> Option<Waker> {
        self.index(ticket).and_then(|index| self.waiting.remove(index)).map(|(_, waker)| waker)
    }

    /// Takes the first out, at most `count`.
    pub(crate) fn take(&mut self, count: usize) -> Woken {
        let mut woken = Woken::default();
        for (place, (_, waker)) in
            woken.0.iter_mut().zip(self.waiting.drain(..count.min(AT_ONCE).min(self.waiting.len())))
        {
            *place = Some(waker);
        }
        woken
    }

    fn index(&self, ticket: u64) -> Option<usize> {
        self.waiting.binary_search_by_key(&ticket, |(other, _)| *other).ok()
    }
}
