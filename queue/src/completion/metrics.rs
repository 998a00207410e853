//! What is told to the recorder of the crate `metrics`.
//!
//! Names are those of OpenTelemetry's semantic conventions for messaging. Labels are bounded: the queue, and how an attempt
//! ended; never an id or the text of an error.

use std::sync::Arc;
use std::time::Duration;

use metrics::{Counter, Histogram, SharedString, Unit, counter, describe_counter, describe_histogram, histogram};

use super::AttemptEnd;

/// From the start of an attempt to its end, in seconds.
const DURATION: &str = "messaging.process.duration";
/// Deliveries that a slot took up.
const CONSUMED: &str = "messaging.client.consumed.messages";

/// The instruments of one queue, made once: nothing is looked up an attempt.
pub(crate) struct Metrics {
    consumed: Counter,
    durations: [Histogram; AttemptEnd::ALL.len()],
}

impl Metrics {
    pub(crate) fn new(queue: &Arc<str>) -> Self {
        describe_histogram!(DURATION, Unit::Seconds, "From the start of an attempt to its end.");
        describe_counter!(CONSUMED, Unit::Count, "Deliveries that were taken up.");
        let name = || SharedString::from_shared(queue.clone());
        let duration =
            |end: AttemptEnd| histogram!(DURATION, "messaging.destination.name" => name(), "outcome" => end.name());
        Self {
            consumed: counter!(CONSUMED, "messaging.destination.name" => name()),
            durations: AttemptEnd::ALL.map(duration),
        }
    }

    pub(crate) fn consumed(&self) {
        self.consumed.increment(1);
    }

    pub(crate) fn ended(&self, end: AttemptEnd, duration: Duration) {
        self.durations[end as usize].record(duration.as_secs_f64());
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}
