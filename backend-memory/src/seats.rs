//! Requests that wait for a job: who is called, and when.

use std::task::{Context, Waker};

use tokio::time::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seat {
    /// Nobody sits here.
    Free,
    /// A request waits here.
    Idle,
    /// The request was woken and has not looked yet.
    Called,
}

/// The waiting requests.
///
/// At most one call is in flight: whoever is called looks, takes its share and calls the next if there is more. So a
/// burst of jobs costs one wake, and still reaches all slots. Wakers stay in their seats, so that a request that waits
/// again clones none.
#[derive(Debug)]
pub(crate) struct Seats {
    seats: Vec<(Seat, Option<Waker>)>,
    free: Vec<u32>,
    /// The seats that are idle; the last to sit is called first, for its caches are warm.
    idle: Vec<u32>,
    calling: bool,
    /// The request that wakes itself when the next delayed job is due, and the time it will.
    keeper: Option<(u32, Instant)>,
}

impl Seats {
    pub(crate) const fn new() -> Self {
        Self { seats: Vec::new(), free: Vec::new(), idle: Vec::new(), calling: false, keeper: None }
    }

    /// Makes room for so many, so that none of them allocates when it first sits down.
    pub(crate) fn reserve(&mut self, requests: usize) {
        self.seats.reserve(requests.saturating_sub(self.seats.len()));
        self.free.reserve(requests.saturating_sub(self.free.len()));
        self.idle.reserve(requests.saturating_sub(self.idle.len()));
    }

    /// Calls a waiting request; its waker is to be woken without the lock.
    #[inline]
    #[must_use]
    pub(crate) fn call_one(&mut self) -> Option<Waker> {
        if self.calling {
            return None;
        }
        let at = self.idle.pop()?;
        self.calling = true;
        let seat = &mut self.seats[at as usize];
        seat.0 = Seat::Called;
        seat.1.clone()
    }

    /// Calls a waiting request if nobody would wake at `due`, when the next delayed job is.
    #[must_use]
    pub(crate) fn call_keeper(&mut self, due: Option<Instant>) -> Option<Waker> {
        let due = due?;
        if self.keeper.is_some_and(|(_, at)| at <= due) { None } else { self.call_one() }
    }

    /// The request waits. True if it is the one that must wake itself at `due`.
    #[cold]
    pub(crate) fn sit(&mut self, seat: &mut Option<u32>, due: Option<Instant>, cx: &Context<'_>) -> bool {
        let at = seat.or_else(|| self.free.pop()).unwrap_or_else(|| {
            self.seats.push((Seat::Free, None));
            self.reserve(self.seats.len());
            u32::try_from(self.seats.len() - 1).unwrap_or(u32::MAX)
        });
        *seat = Some(at);
        self.idle.push(at);
        let here = &mut self.seats[at as usize];
        here.0 = Seat::Idle;
        match &mut here.1 {
            Some(waker) if waker.will_wake(cx.waker()) => {}
            waker => *waker = Some(cx.waker().clone()),
        }
        let Some(due) = due else { return false };
        if self.keeper.is_some_and(|(_, at)| at <= due) {
            return false;
        }
        self.keeper = Some((at, due));
        true
    }

    /// The request looks again, or is dropped: nobody waits here any more.
    #[cold]
    pub(crate) fn stand_up(&mut self, at: u32) {
        if self.keeper.is_some_and(|(keeper, _)| keeper == at) {
            self.keeper = None;
        }
        match std::mem::replace(&mut self.seats[at as usize].0, Seat::Free) {
            Seat::Called => self.calling = false,
            Seat::Idle => self.idle.retain(|&other| other != at),
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
        self.seats.iter().filter(|seat| seat.0 == Seat::Idle).filter_map(|seat| seat.1.clone()).collect()
    }
}
