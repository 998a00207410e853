//! What the lines of all connections obey, and when a chunk may pass.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the broker.
    ToBroker,
    /// From the broker to the client.
    ToClient,
    /// Either way.
    Both,
}

/// The index of the line to the broker in whatever is kept for each line.
pub(super) const TO_BROKER: usize = 0;
/// The index of the line to the client.
pub(super) const TO_CLIENT: usize = 1;

impl Direction {
    /// Whether the line of that index goes this way.
    pub(super) const fn covers(self, line: usize) -> bool {
        match self {
            Self::ToBroker => line == TO_BROKER,
            Self::ToClient => line == TO_CLIENT,
            Self::Both => true,
        }
    }

    /// Calls `with` for the index of each line that goes this way.
    pub(super) fn each(self, with: impl FnMut(usize)) {
        [TO_BROKER, TO_CLIENT].into_iter().filter(|line| self.covers(*line)).for_each(with);
    }
}

/// How a connection is told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// FIN to both sides.
    Fin,
    /// RST to both sides; with `flush` after each has acknowledged what was sent to it.
    Reset { flush: bool },
}

/// The delay of a chunk.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Latency {
    pub(super) base: Duration,
    pub(super) jitter: Duration,
}

/// A bandwidth, and until when it is taken on each line.
#[derive(Debug)]
pub(super) struct Pace {
    rate: NonZeroU64,
    taken_until: Mutex<[Option<Instant>; 2]>,
}

impl Pace {
    pub(super) fn new(rate: NonZeroU64) -> Self {
        Self { rate, taken_until: Mutex::new([None; 2]) }
    }

    /// How many bytes pass at a time: those of 20 ms, so that many connections take turns.
    pub(super) fn piece(&self) -> usize {
        usize::try_from(self.rate.get() / 50).unwrap_or(usize::MAX).max(1)
    }

    /// Takes the time that so many bytes need; they may pass at its end.
    pub(super) fn take(&self, line: usize, bytes: usize, now: Instant) -> Instant {
        let nanos = (bytes as u128 * 1_000_000_000).div_ceil(u128::from(self.rate.get()));
        let need = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let mut taken_until = self.taken_until.lock();
        let start = taken_until[line].map_or(now, |until| until.max(now));
        let end = start + need;
        taken_until[line] = Some(end);
        end
    }
}

/// What is set now.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) frozen: [bool; 2],
    pub(super) latency: Latency,
    pub(super) pace: Option<Arc<Pace>>,
}

/// Why a chunk may not pass yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// Look again at that time, or when a setting changes.
    Until(Instant),
    /// Look again when a setting changes.
    Change,
}

impl Settings {
    /// Whether what arrived then may leave its line now, the bandwidth aside. `roll`, from 0 to 1, is its share of the jitter.
    pub(super) fn hold(&self, line: usize, arrived: Instant, roll: f64, now: Instant) -> Result<(), Hold> {
        if self.frozen[line] {
            return Err(Hold::Change);
        }
        let due = arrived + self.latency.base + self.latency.jitter.mul_f64(roll);
        if due > now { Err(Hold::Until(due)) } else { Ok(()) }
    }
}
