//! One direction of a connection: what arrives is held in order, and passed on when the settings let it.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::time::{Instant, sleep_until};

use super::budget::Spent;
use super::registry::Entry;
use super::settings::{Ending, Hold, Pace, Settings};
use super::shared::Shared;

/// The most bytes that a line holds, with 64 more for each chunk. One chunk of at most 16 KiB can wait outside for its place.
pub const HELD_BYTES: usize = 256 * 1024;

/// The most bytes of one chunk.
const CHUNK: usize = 16 * 1024;
/// What a chunk takes of the room besides its bytes, so that chunks of one byte are bounded as well.
const OVERHEAD: usize = 64;

/// The source was reset, and so must the other side be.
#[derive(Debug)]
pub(super) struct Broken;

/// What a line holds.
#[derive(Debug)]
struct Item<'room> {
    arrived: Instant,
    /// Its share of the jitter, from 0 to 1.
    roll: f64,
    what: What,
    _room: Option<SemaphorePermit<'room>>,
}

#[derive(Debug)]
enum What {
    Bytes(Bytes),
    Fin,
    Reset,
}

/// What an attempt to pass bytes came to.
enum Attempt {
    Passed(usize, Option<Ending>),
    Held(Hold),
    Full,
    Gone,
}

/// A line and what it obeys.
#[derive(Debug)]
pub(super) struct Line<'a> {
    line: usize,
    shared: &'a Shared,
    settings: watch::Receiver<Settings>,
    told: watch::Receiver<Option<Ending>>,
    rolls: fastrand::Rng,
}

impl<'a> Line<'a> {
    pub(super) fn new(line: usize, entry: &Entry, shared: &'a Shared) -> Self {
        Self {
            line,
            shared,
            settings: shared.settings.subscribe(),
            told: entry.told.clone(),
            rolls: rolls(shared.seed, entry.number, line),
        }
    }

    /// Carries until the source has closed and that was passed on: `Ok(Ok)`. `Ok(Err)` when the destination takes no more, which its own
    /// line will tell the source, after what it still has to say.
    pub(super) async fn carry(self, from: ReadHalf<'_>, to: WriteHalf<'_>) -> Result<Result<(), Broken>, Broken> {
        let Self { line, shared, settings, told, rolls } = self;
        let room = Semaphore::new(HELD_BYTES);
        let (arrived, held) = unbounded_channel();
        let mut exit = Exit { line, shared, settings, told, to, reserved: None };
        tokio::select! {
            biased;
            passed = exit.pass_on(held) => passed,
            never = take_in(from, rolls, &room, arrived) => match never {},
        }
    }
}

/// The jitter of a line: a generator each, so that the order in which tasks run changes nothing.
fn rolls(seed: u64, connection: u64, line: usize) -> fastrand::Rng {
    // The odd number, 2^64 over the golden ratio, spreads neighbours.
    let of_this = connection.wrapping_mul(2).wrapping_add(line as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    fastrand::Rng::with_seed(seed ^ of_this)
}

/// Reads all there is into the line, as far as there is room.
async fn take_in<'room>(
    mut from: ReadHalf<'_>,
    mut rolls: fastrand::Rng,
    room: &'room Semaphore,
    line: UnboundedSender<Item<'room>>,
) -> Infallible {
    let mut buffer = vec![0; CHUNK];
    loop {
        let what = match from.read(&mut buffer).await {
            Ok(0) => What::Fin,
            Ok(length) => What::Bytes(Bytes::copy_from_slice(&buffer[..length])),
            Err(_) => What::Reset,
        };
        let (arrived, roll) = (Instant::now(), rolls.f64());
        let (last, taken) = match &what {
            What::Bytes(bytes) => (false, bytes.len() + OVERHEAD),
            What::Fin | What::Reset => (true, 0),
        };
        // Neither can fail: the semaphore is never closed, and the receiver outlives this future.
        let permit = room.acquire_many(u32::try_from(taken).unwrap_or(u32::MAX)).await.ok();
        drop(line.send(Item { arrived, roll, what, _room: permit }));
        if last {
            return std::future::pending().await;
        }
    }
}

/// The end of a line at which bytes leave.
#[derive(Debug)]
struct Exit<'a, 's> {
    line: usize,
    shared: &'a Shared,
    settings: watch::Receiver<Settings>,
    told: watch::Receiver<Option<Ending>>,
    to: WriteHalf<'s>,
    /// The time for which bandwidth is taken, and of which pace.
    reserved: Option<Reserved>,
}

#[derive(Debug)]
struct Reserved {
    pace: Arc<Pace>,
    bytes: usize,
    until: Instant,
}

impl Exit<'_, '_> {
    async fn pass_on(&mut self, mut held: UnboundedReceiver<Item<'_>>) -> Result<Result<(), Broken>, Broken> {
        while let Some(mut item) = held.recv().await {
            while let What::Bytes(bytes) = &mut item.what {
                if bytes.is_empty() {
                    break;
                }
                match self.pass(item.arrived, item.roll, bytes).await {
                    Ok(passed) => bytes.advance(passed),
                    Err(Broken) => return Ok(Err(Broken)),
                }
            }
            match item.what {
                What::Bytes(_) => {}
                What::Fin => {
                    self.released(&item).await;
                    return Ok(self.to.shutdown().await.map_err(|_| Broken));
                }
                What::Reset => {
                    self.released(&item).await;
                    return Err(Broken);
                }
            }
        }
        Ok(Ok(()))
    }

    /// Waits until an end may pass.
    async fn released(&mut self, item: &Item<'_>) {
        loop {
            let held = self.settings.borrow_and_update().hold(self.line, item.arrived, item.roll, Instant::now());
            match held {
                Ok(()) => return,
                Err(hold) => self.wait(hold).await,
            }
        }
    }

    /// Passes on as many of the bytes as may pass together, at least one.
    async fn pass(&mut self, arrived: Instant, roll: f64, bytes: &[u8]) -> Result<usize, Broken> {
        loop {
            self.to.writable().await.map_err(|_| Broken)?;
            match self.attempt(arrived, roll, bytes) {
                Attempt::Passed(passed, last) => {
                    self.shared.count(self.line, passed);
                    if let Some(ending) = last {
                        self.shared.spent(ending);
                    }
                    return Ok(passed);
                }
                Attempt::Held(hold) => self.wait(hold).await,
                Attempt::Full => {}
                Attempt::Gone => return Err(Broken),
            }
        }
    }

    /// Writes if the settings let it, without a wait: while the settings are borrowed nobody changes them, so that after a change not a
    /// byte passes against it.
    fn attempt(&mut self, arrived: Instant, roll: f64, bytes: &[u8]) -> Attempt {
        let now = Instant::now();
        let settings = self.settings.borrow_and_update();
        if let Err(hold) = settings.hold(self.line, arrived, roll, now) {
            return Attempt::Held(hold);
        }
        let mut at_most = bytes.len();
        if let Some(pace) = &settings.pace {
            let kept = self.reserved.take().filter(|reserved| Arc::ptr_eq(&reserved.pace, pace));
            let reserved = self.reserved.insert(kept.unwrap_or_else(|| {
                let bytes = bytes.len().min(pace.piece());
                Reserved { pace: Arc::clone(pace), bytes, until: pace.take(self.line, bytes, now) }
            }));
            if reserved.until > now {
                return Attempt::Held(Hold::Until(reserved.until));
            }
            at_most = at_most.min(reserved.bytes);
        }
        let gone = || self.told.borrow().is_some();
        match self.shared.budget.pass(self.line, at_most, gone, |allowed| self.to.try_write(&bytes[..allowed])) {
            Spent::Passed(passed, last) => {
                self.reserved.take_if(|reserved| {
                    reserved.bytes = reserved.bytes.saturating_sub(passed);
                    reserved.bytes == 0
                });
                Attempt::Passed(passed, last)
            }
            Spent::Nothing => Attempt::Held(Hold::Change),
            Spent::Failed(error) if error.kind() == ErrorKind::WouldBlock => Attempt::Full,
            Spent::Failed(_) => Attempt::Gone,
        }
    }

    async fn wait(&mut self, hold: Hold) {
        match hold {
            Hold::Until(time) => tokio::select! {
                () = sleep_until(time) => {}
                changed = self.settings.changed() => drop(changed),
            },
            // The sender lives as long as the proxy's connections do.
            Hold::Change => drop(self.settings.changed().await),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rolls;

    #[test]
    fn a_seed_repeats_and_each_line_has_a_jitter_of_its_own() {
        let drawn = |seed, connection, line| rolls(seed, connection, line).f64().to_bits();
        let one = drawn(7, 1, 0);
        assert_eq!(drawn(7, 1, 0), one);
        for other in [drawn(8, 1, 0), drawn(7, 2, 0), drawn(7, 1, 1)] {
            assert_ne!(other, one);
        }
    }
}
