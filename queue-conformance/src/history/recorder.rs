//! Whoever writes the log.

use std::borrow::Cow;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use queue_core::JobId;
use tokio::time::Instant;

use super::check::{Report, check};
use super::claims::{Claims, Order};
use super::event::{Cut, Event, Gate, Hex, Killed, Left, Line, Nothing, Place};
use super::gate::{Gates, Step, stand};
use super::read::{LogError, first_line};

/// Why a log cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The file cannot be opened or written.
    #[error("the log cannot be written: what happened since is not in it")]
    Io(#[from] io::Error),
    /// The file that shall be continued is no log.
    #[error("the file cannot be continued")]
    NoLog(#[from] LogError),
}

/// Writes what happens, a line an event. Clones write to the same log as the same process.
///
/// A line goes to a file in one `write` that appends, so that the order of lines is the order of events, also across processes. A log in
/// memory is for suites that run in one process. A write that fails is kept: the recorder writes nothing more, and
/// [`error`](Self::error), [`close`](Self::close) and [`check`](Self::check) tell it.
///
/// ```
/// use queue_conformance::history::{Claims, Recorder};
/// let recorder = Recorder::in_memory(Claims::new());
/// recorder.process("parent").killed("consumer 1");
/// assert_eq!(recorder.text().lines().count(), 2);
/// ```
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
    process: Arc<Process>,
}

struct Shared {
    claims: Claims,
    sink: Mutex<Sink>,
    /// Held by whoever asks the worker for deliveries, where an order is claimed.
    turn: Mutex<()>,
}

/// What is one process in the log.
struct Process {
    name: Box<str>,
    publishes: AtomicU64,
    deliveries: AtomicU64,
    gates: Gates,
}

struct Sink {
    to: To,
    line: Vec<u8>,
    error: Option<io::Error>,
}

enum To {
    /// The text, and when it began: its times follow a paused clock.
    Memory(Vec<u8>, Instant),
    File(File),
}

impl Sink {
    fn new(to: To) -> Self {
        Self { to, line: Vec::with_capacity(256), error: None }
    }

    fn write<T: serde::Serialize>(&mut self, value: &T) {
        if self.error.is_some() {
            return;
        }
        self.line.clear();
        let made = serde_json::to_writer(&mut self.line, value).map_err(io::Error::from);
        self.line.push(b'\n');
        let written = made.and_then(|()| match &mut self.to {
            To::Memory(text, _) => text.write_all(&self.line),
            To::File(file) => file.write_all(&self.line),
        });
        self.error = written.err();
    }

    fn ms(&self) -> u64 {
        let since = match &self.to {
            To::Memory(_, start) => start.elapsed(),
            To::File(_) => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO),
        };
        whole_ms(since)
    }
}

/// A time in whole milliseconds, cut.
pub(super) fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Recorder {
    fn new(sink: Sink, claims: Claims, process: &str) -> Self {
        let shared = Arc::new(Shared { claims, sink: Mutex::new(sink), turn: Mutex::new(()) });
        Self { shared, process: Process::new(process) }
    }

    /// A log in memory, of a process named `main`. Its times are tokio's, from 0 on.
    #[must_use]
    pub fn in_memory(claims: Claims) -> Self {
        let mut sink = Sink::new(To::Memory(Vec::new(), Instant::now()));
        sink.write(&claims);
        Self::new(sink, claims, "main")
    }

    /// A new file, which must not be there yet, for the process `process`.
    ///
    /// # Errors
    /// The file is there, or cannot be made or written.
    pub fn create(path: impl AsRef<Path>, process: &str, claims: Claims) -> Result<Self, RecordError> {
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        let mut sink = Sink::new(To::File(file));
        sink.write(&claims);
        match sink.error.take() {
            Some(error) => Err(error.into()),
            None => Ok(Self::new(sink, claims, process)),
        }
    }

    /// A file that another process has made, continued by the process `process`. A process that is started again needs a new name.
    ///
    /// # Errors
    /// The file is not there, cannot be written, or is no log of this version.
    pub fn append(path: impl AsRef<Path>, process: &str) -> Result<Self, RecordError> {
        let claims = first_line(BufReader::new(File::open(&path)?))?;
        let file = OpenOptions::new().append(true).open(path)?;
        Ok(Self::new(Sink::new(To::File(file)), claims, process))
    }

    /// The same log, as another process: what is numbered counts anew.
    #[must_use]
    pub fn process(&self, name: &str) -> Self {
        Self { shared: self.shared.clone(), process: Process::new(name) }
    }

    /// What the run is held to.
    #[must_use]
    pub fn claims(&self) -> Claims {
        self.shared.claims
    }

    /// Notes that `process` was killed: its open deliveries may come again, its open publishes may have happened. For whoever killed it,
    /// once it is dead.
    pub fn killed(&self, process: &str) {
        self.note(Event::Killed(Killed { process: process.into() }));
    }

    /// Notes that the broker or, with a name, the connection of one process is about to break, and that the process lives on.
    pub fn cut(&self, process: Option<&str>) {
        self.note(Event::Cut(Cut { process: process.map(Cow::from) }));
    }

    /// Notes where a job is at the end of the run. What a shutdown hands over is noted by the [`Recorded`](super::Recorded) worker.
    pub fn left(&self, id: JobId, place: Place) {
        self.note(Event::Left(Left { id: Hex(id.get()), place }));
    }

    /// Notes that this process ends in order: it has no open publish and no open delivery.
    ///
    /// # Errors
    /// A write has failed, now or before.
    pub fn close(&self) -> Result<(), RecordError> {
        self.note(Event::Closed(Nothing {}));
        self.error()
    }

    /// Whether everything was written.
    ///
    /// # Errors
    /// The first write that failed: the log ends there.
    pub fn error(&self) -> Result<(), RecordError> {
        match &self.shared.sink.lock().error {
            Some(error) => Err(io::Error::new(error.kind(), error.to_string()).into()),
            None => Ok(()),
        }
    }

    /// The log so far, of a recorder in memory; empty for a file.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.shared.sink.lock().to {
            To::Memory(text, _) => String::from_utf8_lossy(text).into_owned(),
            To::File(_) => String::new(),
        }
    }

    /// Checks the log so far, of a recorder in memory.
    ///
    /// # Errors
    /// As [`check`]; a log in a file is [`LogError::Empty`] here.
    pub fn check(&self) -> Result<Report, LogError> {
        check(self.text().as_bytes())
    }

    /// Stops at the `nth` passing of `step`, from 1 on: notes that the process stands there, and blocks the thread for ever.
    pub fn stop_at(&self, step: Step, nth: u64) {
        self.process.gates.add(step, nth);
    }

    pub(super) fn pass(&self, step: Step) {
        if self.process.gates.stops(step) {
            self.note(Event::Gate(Gate { step: step.name().into() }));
            stand();
        }
    }

    pub(super) fn note(&self, event: Event<'_>) {
        let mut sink = self.shared.sink.lock();
        // Read under the lock: the times of one process then never run backwards by themselves.
        let line = Line { p: Cow::Borrowed(&self.process.name), ms: Some(sink.ms()), event };
        sink.write(&line);
    }

    /// The numbers of `count` publishes: the first.
    pub(super) fn publishes(&self, count: usize) -> u64 {
        // Relaxed: only that a number is given once matters.
        self.process.publishes.fetch_add(count as u64, Ordering::Relaxed) + 1
    }

    pub(super) fn delivery(&self) -> u64 {
        // Relaxed: as above.
        self.process.deliveries.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The turn to ask the worker for deliveries: where an order is claimed, the lines stand in the order in which the worker answered.
    pub(super) fn turn(&self) -> Option<parking_lot::MutexGuard<'_, ()>> {
        (self.shared.claims.order != Order::None).then(|| self.shared.turn.lock())
    }
}

impl Process {
    fn new(name: &str) -> Arc<Self> {
        let (publishes, deliveries) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Self { name: name.into(), publishes, deliveries, gates: Gates::default() })
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("process", &self.process.name).finish_non_exhaustive()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_fails_is_told_and_nothing_is_written_after_it() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let recorder = Recorder::new(Sink::new(To::File(full)), Claims::new(), "a");
        recorder.error().unwrap();
        recorder.killed("b");
        let error = recorder.error().unwrap_err();
        assert!(matches!(&error, RecordError::Io(source) if source.kind() == io::ErrorKind::StorageFull), "{error}");
        assert!(recorder.close().is_err());
    }
}
