//! Requests that wait for a job: who is called, and when.

use std::task::{Context, Waker};

use queue_core::Stamp;
use tokio::time::Instant;

/// After so many milliseconds a call that was not answered is not waited for: two ticks, for a stamp may be one early.
const LATE_MS: i32 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seat {
    /// Nobody sits here.
    Free,
    /// A request waits here, at this place among the idle.
    Idle(u32),
    /// The request was woken and has not looked yet.
    Called,
}

/// The waiting requests.
///
/// One call is in flight at a time: whoever is called looks, takes its share and calls the next if there is more. So a
/// burst of jobs costs one wake, and still reaches all slots. A call that is late holds up nobody: tokio puts a woken
/// task behind the one that woke it, where no other thread takes it over, and a handler that enqueues and then computes
/// would stop all slots. So the next enqueue calls another. Wakers stay in their seats, so that a request that waits
/// again clones none.
#[derive(Debug)]
pub(crate) struct Seats {
    seats: Vec<(Seat, Option<Waker>)>,
    free: Vec<u32>,
    /// The seats that are idle; the last to sit is called first, for its caches are warm.
    idle: Vec<u32>,
    calling: bool,
    /// When an enqueue last called.
    called: Stamp,
    /// The request that wakes itself when the next delayed job is due, and the time it will.
    keeper: Option<(u32, Instant)>,
}

impl Seats {
    pub(crate) fn new() -> Self {
        Self {
            seats: Vec::new(),
            free: Vec::new(),
            idle: Vec::new(),
            calling: false,
            called: Stamp::default(),
            keeper: None,
        }
    }

    /// Makes room for so many, so that none of them allocates when it first sits down.
    pub(crate) fn reserve(&mut self, requests: usize) {
        self.seats.reserve(requests.saturating_sub(self.seats.len()));
        self.free.reserve(requests.saturating_sub(self.free.len()));
        self.idle.reserve(requests.saturating_sub(self.idle.len()));
    }

    /// Calls a waiting request; its waker is to be woken without the lock. `now` is known to who enqueues.
    #[inline]
    #[must_use]
    pub(crate) fn call_one(&mut self, now: Option<Stamp>) -> Option<Waker> {
        if self.calling && !now.is_some_and(|now| self.is_late(now)) {
            return None;
        }
        let at = self.idle.pop()?;
        self.calling = true;
        self.called = now.unwrap_or(self.called);
        let seat = &mut self.seats[at as usize];
        seat.0 = Seat::Called;
        seat.1.clone()
    }

    /// Stamps wrap, and come here a little out of order.
    #[inline]
    const fn is_late(&self, now: Stamp) -> bool {
        now.as_millis().wrapping_sub(self.called.as_millis()).cast_signed() > LATE_MS
    }

    /// Calls a waiting request if nobody would wake at `due`, when the next delayed job is.
    #[must_use]
    pub(crate) fn call_keeper(&mut self, due: Option<Instant>, now: Option<Stamp>) -> Option<Waker> {
        let due = due?;
        if self.keeper.is_some_and(|(_, at)| at <= due) { None } else { self.call_one(now) }
    }

    /// The request waits. True if it is the one that must wake itself at `due`; with the waker that it replaced, to be
    /// dropped without the lock.
    #[cold]
    pub(crate) fn sit(
        &mut self,
        seat: &mut Option<u32>,
        due: Option<Instant>,
        cx: &Context<'_>,
    ) -> (bool, Option<Waker>) {
        let at = seat.or_else(|| self.free.pop()).unwrap_or_else(|| {
            self.seats.push((Seat::Free, None));
            self.reserve(self.seats.len());
            u32::try_from(self.seats.len() - 1).unwrap_or(u32::MAX)
        });
        *seat = Some(at);
        let place = u32::try_from(self.idle.len()).unwrap_or(u32::MAX);
        self.idle.push(at);
        let here = &mut self.seats[at as usize];
        here.0 = Seat::Idle(place);
        let replaced = match &mut here.1 {
            Some(waker) if waker.will_wake(cx.waker()) => None,
            waker => waker.replace(cx.waker().clone()),
        };
        let due = due.filter(|due| self.keeper.is_none_or(|(_, at)| at > *due));
        if let Some(due) = due {
            self.keeper = Some((at, due));
        }
        (due.is_some(), replaced)
    }

    /// The request looks again, or is dropped: nobody waits here any more.
    #[cold]
    pub(crate) fn stand_up(&mut self, at: u32) {
        if self.keeper.is_some_and(|(keeper, _)| keeper == at) {
            self.keeper = None;
        }
        match std::mem::replace(&mut self.seats[at as usize].0, Seat::Free) {
            Seat::Called => self.calling = false,
            Seat::Idle(place) => {
                // All may stand up at once: no search, though the last to sit changes its place.
                self.idle.swap_remove(place as usize);
                if let Some(&moved) = self.idle.get(place as usize) {
                    self.seats[moved as usize].0 = Seat::Idle(place);
                }
            }
            Seat::Free => {}
        }
    }

    /// The request has its answer: another may sit here.
    #[inline]
    pub(crate) fn leave(&mut self, at: u32) {
        self.free.push(at);
    }

    /// The request is gone for good: its waker too, which keeps a task alive. To be dropped without the lock.
    #[must_use]
    pub(crate) fn forget(&mut self, at: u32) -> Option<Waker> {
        self.stand_up(at);
        self.free.push(at);
        self.seats[at as usize].1.take()
    }

    /// Everybody that waits, to be woken without the lock.
    #[must_use]
    pub(crate) fn everybody(&self) -> Vec<Waker> {
        self.seats.iter().filter(|seat| matches!(seat.0, Seat::Idle(_))).filter_map(|seat| seat.1.clone()).collect()
    }
}
