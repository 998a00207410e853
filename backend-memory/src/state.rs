//! What the ring's lock guards.

use std::collections::VecDeque;
use std::task::{Context, Waker};
use std::time::Duration;

use queue_core::{Delivery, Extra, IdSource, JobId, Meta, Stamp, Tally};
use tokio::time::Instant;

use crate::dead::Dead;
use crate::delayed::Delayed;
use crate::ready::{Ready, order};
use crate::seats::Seats;
use crate::senders::Senders;

/// The least a request takes, where there is that much: it spares a tail of batches of one.
const LEAST_SHARE: usize = 8;

#[derive(Debug)]
pub(crate) struct State<P> {
    pub(crate) ready: Ready<P>,
    pub(crate) delayed: Delayed<P>,
    /// Jobs that came back while the ring was closed: none of them starts again.
    cut: Vec<Delivery<P, ()>>,
    pub(crate) dead: Dead<P>,
    pub(crate) seats: Seats,
    pub(crate) senders: Senders,
    pub(crate) ids: IdSource,
    /// How many jobs may wait here before new ones are refused; what comes back is never refused.
    capacity: usize,
    /// For how many jobs memory is kept when the ring drains.
    floor: usize,
    /// Among how many slots a backlog is shared out.
    slots: usize,
    pub(crate) closed: bool,
    pub(crate) paused: bool,
    /// Jobs accepted under an id that they brought along.
    accepted_again: u64,
    pub(crate) cancelled: u64,
    handed_over: u64,
}

/// What a request got.
pub(crate) enum Took {
    /// Deliveries, and who is to be woken: another request, and so many enqueuers.
    Some(Option<Waker>, usize),
    /// Nothing, and there will be nothing.
    Closed,
    /// Nothing yet; the request must wake itself at the instant, where there is one. A waker that was replaced is to be
    /// dropped without the lock.
    Wait(Option<Instant>, Option<Waker>),
}

impl<P> State<P> {
    pub(crate) fn new(cells: VecDeque<Delivery<P, ()>>, capacity: usize, dead_letters: usize) -> Self {
        Self {
            floor: cells.capacity(),
            ready: Ready::new(cells),
            delayed: Delayed::new(),
            cut: Vec::new(),
            dead: Dead::new(dead_letters),
            seats: Seats::new(),
            senders: Senders::new(),
            ids: IdSource::new(),
            capacity,
            slots: 1,
            closed: false,
            paused: false,
            accepted_again: 0,
            cancelled: 0,
            handed_over: 0,
        }
    }

    #[inline]
    fn len(&self) -> usize {
        self.ready.len() + self.delayed.len()
    }

    /// So many slots will ask, each for `share` at most: what they need is allocated now.
    ///
    /// A ring that keeps all its room keeps it for what comes back, too: jobs that slots return are never refused for
    /// room, and would else make a full ring grow each time.
    pub(crate) fn expect(&mut self, slots: usize, share: usize) {
        self.slots = slots.max(1);
        self.seats.reserve(slots);
        if self.floor >= self.capacity {
            self.ready.set_floor(self.floor.saturating_add(slots.saturating_mul(share)));
        }
    }

    /// Whether a new job is taken now. Asked under the lock that the job is then pushed under: the capacity is exact.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.len() < self.capacity && !self.closed
    }

    /// The id of a new job: its own, where it brought one along.
    #[inline]
    pub(crate) fn id_for(&mut self, extra: Option<&Extra>) -> JobId {
        match extra.and_then(|extra| extra.id) {
            None => self.ids.take(),
            Some(id) => {
                self.accepted_again += 1;
                id
            }
        }
    }

    /// A new job without options. There is room.
    #[inline]
    pub(crate) fn push_new(&mut self, id: JobId, payload: P, enqueued: Stamp) {
        let meta = Meta { id, attempt: 1, enqueued, extra: None };
        self.ready.push_plain(Delivery { meta, payload, receipt: () });
    }

    /// A new job that has options. There is room.
    #[cold]
    pub(crate) fn push_with(&mut self, id: JobId, payload: P, mut extra: Box<Extra>, enqueued: Stamp) {
        extra.id = None;
        let delay = extra.delay.take().unwrap_or(Duration::ZERO);
        let meta = Meta { id, attempt: 1, enqueued, extra: Some(extra) };
        self.push_after(delay, Delivery { meta, payload, receipt: () });
    }

    /// A job put back by hand counts as accepted again.
    pub(crate) fn push_again(&mut self, delivery: Delivery<P, ()>) {
        self.accepted_again += 1;
        self.ready.push(delivery);
    }

    /// Behind the others now, or after a wait. What would have to wait while the ring is closed does not start any more.
    pub(crate) fn push_after(&mut self, after: Duration, delivery: Delivery<P, ()>) {
        if after.is_zero() && !self.closed {
            self.ready.push(delivery);
        } else {
            self.delayed.push(due_after(after), delivery);
        }
    }

    /// To the head now, or after a wait. A closed ring keeps it for the shutdown.
    pub(crate) fn hand_back_after(&mut self, after: Duration, delivery: Delivery<P, ()>) {
        if self.closed {
            self.cut.push(delivery);
        } else if after.is_zero() {
            self.ready.hand_back(delivery);
        } else {
            self.delayed.push(due_after(after), delivery);
        }
    }

    /// Calls a request for what is here, or to keep the time of what is delayed.
    #[inline]
    #[must_use]
    pub(crate) fn call(&mut self, now: Option<Stamp>) -> Option<Waker> {
        if self.paused {
            None
        } else if !self.ready.is_empty() {
            self.seats.call_one(now)
        } else if self.delayed.len() > 0 {
            self.seats.call_keeper(self.delayed.next_due(), now)
        } else {
            None
        }
    }

    /// The same after a job without options was pushed: there is one to start.
    #[inline]
    #[must_use]
    pub(crate) fn call_for_new(&mut self, now: Stamp) -> Option<Waker> {
        if self.paused { None } else { self.seats.call_one(Some(now)) }
    }

    /// A request looks.
    #[inline]
    pub(crate) fn take(
        &mut self,
        max: usize,
        into: &mut VecDeque<Delivery<P, ()>>,
        seat: &mut Option<u32>,
        cx: &Context<'_>,
    ) -> Took {
        if let Some(at) = *seat {
            self.seats.stand_up(at);
        }
        if self.delayed.len() > 0 && !self.closed {
            self.delayed.move_due(Instant::now(), &mut self.ready);
        }
        if self.ready.is_empty() || self.paused {
            return self.wait(seat, cx);
        }
        if let Some(at) = seat.take() {
            self.seats.leave(at);
        }
        let share = self.ready.len().div_ceil(self.slots).max(LEAST_SHARE).min(max);
        self.ready.take(share, into);
        let senders = if self.senders.len() == 0 { 0 } else { self.senders_to_wake(max == 1) };
        Took::Some(self.call(None), senders)
    }

    #[cold]
    fn wait(&mut self, seat: &mut Option<u32>, cx: &Context<'_>) -> Took {
        if self.closed {
            if let Some(at) = seat.take() {
                self.seats.leave(at);
            }
            return Took::Closed;
        }
        let due = if self.paused { None } else { self.delayed.next_due() };
        let (keeper, replaced) = self.seats.sit(seat, due, cx);
        Took::Wait(due.filter(|_| keeper), replaced)
    }

    /// How many waiting enqueuers to wake: all of them at half empty, since each of their wakes costs more than many
    /// jobs; where requests take one job at a time, for the handlers wait, as many as there is room for.
    pub(crate) fn senders_to_wake(&self, slow: bool) -> usize {
        if self.len() <= self.capacity / 2 {
            self.senders.len()
        } else if slow {
            self.capacity.saturating_sub(self.len()).min(self.senders.len())
        } else {
            0
        }
    }

    /// All that never ran: what was handed back, what could have started, then what is delayed.
    pub(crate) fn hand_over(&mut self, into: &mut VecDeque<Delivery<P, ()>>) {
        self.handed_over += (self.len() + self.cut.len()) as u64;
        self.cut.sort_by(|a, b| order(a.meta.id, b.meta.id));
        into.extend(self.cut.drain(..));
        self.ready.take(usize::MAX, into);
        self.delayed.drain(into);
    }

    pub(crate) fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        tally.accepted = self.ids.taken() + self.accepted_again;
        tally.queued = self.ready.len() as u64;
        tally.waiting = (self.delayed.len() + self.cut.len()) as u64;
        tally.cancelled = self.cancelled;
        tally.handed_over = self.handed_over;
        tally
    }
}

/// The instant, or one that never comes: a wait that overflows the clock is longer than any process.
fn due_after(after: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(after).unwrap_or_else(|| now + Duration::from_secs(100 * 365 * 24 * 3_600))
}
