//! Whoever listens to the log runs in the middle of a job: its panic must not end the slot, and the job with it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tracing::Span;
use tracing::level_filters::LevelFilter;
use tracing::span::Entered;

/// A line of the log: the level as tracing's macro names it, then what that takes.
macro_rules! log {
    ($level:ident, $($what:tt)+) => {
        $crate::log::contained(|| tracing::$level!($($what)+))
    };
}
pub(crate) use log;

/// Whether somebody listens at a level, as tracing's macro `enabled` or `span_enabled` says.
macro_rules! listens {
    ($enabled:ident, $level:ident) => {
        $crate::log::may_listen(tracing::Level::$level)
            && $crate::log::contained(|| tracing::$enabled!(tracing::Level::$level)) == Some(true)
    };
}
pub(crate) use listens;

/// Whether anybody could listen: one load, and none of their code.
#[inline]
pub(crate) fn may_listen(level: tracing::Level) -> bool {
    LevelFilter::current() >= level
}

/// None where a listener panicked. The program's panic hook was told.
#[inline]
pub(crate) fn contained<T>(tell: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(tell)).ok()
}

/// The span of an attempt.
#[derive(Debug)]
pub(crate) struct JobSpan(Span);

impl JobSpan {
    pub(crate) fn new(make: impl FnOnce() -> Span) -> Self {
        Self(contained(make).unwrap_or_else(Span::none))
    }

    pub(crate) fn record(&self, field: &str, value: &str) {
        contained(|| self.0.record(field, value));
    }

    pub(crate) fn enter(&self) -> Inside<'_> {
        Inside(contained(|| self.0.enter()))
    }
}

impl Clone for JobSpan {
    fn clone(&self) -> Self {
        Self::new(|| self.0.clone())
    }
}

impl Drop for JobSpan {
    fn drop(&mut self) {
        let span = std::mem::replace(&mut self.0, Span::none());
        contained(|| drop(span));
    }
}

/// Inside a span while it lives.
#[derive(Debug)]
pub(crate) struct Inside<'a>(Option<Entered<'a>>);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let entered = self.0.take();
        contained(|| drop(entered));
    }
}
