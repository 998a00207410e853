//! A subscriber that keeps what was logged on its thread.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Once};

use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{DefaultGuard, Interest, set_default, set_global_default};
use tracing::{Event, Level, Metadata, Subscriber};

/// The lines that were logged, as `LEVEL message field=value`, and from which level on. Clones are the same log.
#[derive(Clone)]
pub struct Log(Arc<Mutex<Kept>>);

struct Kept {
    level: LevelFilter,
    lines: Vec<String>,
    /// Each span, as `name field=value`; its id is its place, from 1 on.
    spans: Vec<(&'static str, String)>,
    inside: Vec<u64>,
}

impl Log {
    /// Listens on this thread while the guard lives.
    pub fn listen(level: LevelFilter) -> (Self, DefaultGuard) {
        // One that stays: a callsite first met while nobody listens anywhere is remembered as never wanted, and tests that
        // run side by side come and go between its registration and its use.
        static ALWAYS: Once = Once::new();
        ALWAYS.call_once(|| set_global_default(Self::at(LevelFilter::OFF)).unwrap());
        let log = Self::at(level);
        let guard = set_default(log.clone());
        (log, guard)
    }

    fn at(level: LevelFilter) -> Self {
        Self(Arc::new(Mutex::new(Kept { level, lines: Vec::new(), spans: Vec::new(), inside: Vec::new() })))
    }

    pub fn set_level(&self, level: LevelFilter) {
        self.0.lock().level = level;
    }

    /// The spans, with all that was recorded in each.
    pub fn spans(&self) -> Vec<String> {
        self.0.lock().spans.iter().map(|(name, fields)| format!("{name}{fields}")).collect()
    }

    /// The lines that contain `text`.
    pub fn lines(&self, text: &str) -> Vec<String> {
        self.0.lock().lines.iter().filter(|line| line.contains(text)).cloned().collect()
    }
}

impl Subscriber for Log {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        // Asked each time: the level changes while it listens.
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.0.lock().level
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(*event.metadata().level(), String::new(), String::new());
        event.record(&mut line);
        let Line(level, message, fields) = line;
        let mut kept = self.0.lock();
        let place = kept.inside.last().map(|&id| kept.spans[id as usize - 1].0);
        let place = place.map(|name| format!(" in={name}")).unwrap_or_default();
        kept.lines.push(format!("{level} {message}{fields}{place}"));
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut line = Line(*span.metadata().level(), String::new(), String::new());
        span.record(&mut line);
        let mut kept = self.0.lock();
        kept.spans.push((span.metadata().name(), line.2));
        Id::from_u64(kept.spans.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let mut line = Line(Level::INFO, String::new(), String::new());
        values.record(&mut line);
        self.0.lock().spans[id.into_u64() as usize - 1].1 += &line.2;
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, id: &Id) {
        self.0.lock().inside.push(id.into_u64());
    }

    fn exit(&self, id: &Id) {
        self.0.lock().inside.retain(|inside| *inside != id.into_u64());
    }
}

/// Level, message, the other fields.
struct Line(Level, String, String);

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.1 = format!("{value:?}");
        } else {
            write!(self.2, " {}={value:?}", field.name()).unwrap();
        }
    }
}
