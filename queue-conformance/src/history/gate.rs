//! Where a process stops, so that somebody can kill it exactly there.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::event::{Event, Line};

/// A step of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// A publish is noted, and the worker has not been asked.
    BeforePublish,
    /// The worker has answered a publish, and nobody has noted that.
    AfterPublish,
    /// A delivery is noted, and has not been handed out.
    Fetched,
    /// A handler is about to start, which is not noted yet.
    BeforeHandler,
    /// The start of a handler is noted.
    InHandler,
    /// A verdict is noted, and the worker has not been asked.
    BeforeSettle,
    /// The worker has answered a settle, and that is noted.
    AfterSettle,
}

impl Step {
    /// All of them, in the order of a job's life.
    pub const ALL: [Self; 7] = [
        Self::BeforePublish,
        Self::AfterPublish,
        Self::Fetched,
        Self::BeforeHandler,
        Self::InHandler,
        Self::BeforeSettle,
        Self::AfterSettle,
    ];

    /// Its name in the log.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BeforePublish => "before publish",
            Self::AfterPublish => "after publish",
            Self::Fetched => "fetched",
            Self::BeforeHandler => "before handler",
            Self::InHandler => "in handler",
            Self::BeforeSettle => "before settle",
            Self::AfterSettle => "after settle",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a step of the protocol: `before publish`, `after publish`, `fetched`, `before handler`, `in handler`, `before settle` and `after settle` are"
)]
#[expect(unnameable_types, reason = "the error of `from_str`")]
pub struct UnknownStep;

impl FromStr for Step {
    type Err = UnknownStep;

    fn from_str(text: &str) -> Result<Self, UnknownStep> {
        Self::ALL.into_iter().find(|step| step.name() == text).ok_or(UnknownStep)
    }
}

/// The gate that `process` stands at, if the log says so: a parent reads the file until it does, and kills then.
///
/// Lines that are not complete or no events are passed over.
///
/// ```
/// use queue_conformance::history::{Step, gate_of};
/// let log = b"{\"history\":1}\n{\"p\":\"c1\",\"gate\":{\"step\":\"in handler\"}}\n";
/// assert_eq!(gate_of(log, "c1"), Some(Step::InHandler));
/// assert_eq!(gate_of(log, "c2"), None);
/// ```
#[must_use]
pub fn gate_of(log: &[u8], process: &str) -> Option<Step> {
    let lines = log.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    lines.filter_map(|line| serde_json::from_slice::<Line<'_>>(line).ok()).find_map(|line| match line.event {
        Event::Gate(gate) if line.p == process => gate.step.parse().ok(),
        _ => None,
    })
}

/// The gates of a process that are still ahead.
#[derive(Debug, Default)]
pub(super) struct Gates {
    /// Whether there is any: most runs have none. Relaxed: gates are set before the run starts.
    any: AtomicBool,
    ahead: Mutex<Vec<(Step, u64)>>,
}

impl Gates {
    pub(super) fn add(&self, step: Step, nth: u64) {
        self.ahead.lock().push((step, nth.max(1)));
        self.any.store(true, Ordering::Relaxed);
    }

    /// Whether this passing is the one to stop at.
    pub(super) fn stops(&self, step: Step) -> bool {
        if !self.any.load(Ordering::Relaxed) {
            return false;
        }
        let mut ahead = self.ahead.lock();
        ahead.iter_mut().filter(|(at, _)| *at == step).fold(false, |stops, (_, left)| {
            *left = left.saturating_sub(1);
            stops || *left == 0
        })
    }
}

/// Never returns. The rest of the process goes on until somebody kills it.
pub(super) fn stand() -> ! {
    loop {
        std::thread::park();
    }
}
