//! The options of one job, as they are collected.

use std::time::Duration;

use bytes::Bytes;
use queue_core::{Backoff, Extra};
use tokio::time::Instant;

use super::Wait;

/// Header names that the library keeps for itself.
const RESERVED: &str = "jobqueue-";

/// Headers, options, and the first of them that makes no sense.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) extra: Extra,
    pub(crate) wait: Wait,
    pub(crate) invalid: Option<Box<str>>,
}

impl Options {
    pub(crate) fn new() -> Self {
        Self { extra: Extra::default(), wait: Wait::Long, invalid: None }
    }

    pub(crate) fn header(&mut self, name: Box<str>, value: Bytes) {
        if name.get(..RESERVED.len()).is_some_and(|start| start.eq_ignore_ascii_case(RESERVED)) {
            self.refuse(format!("header `{name}` is reserved: choose a name that does not start with `{RESERVED}`"));
        } else if name.is_empty() {
            self.refuse("a header without a name: give it at least one character");
        } else {
            self.extra.headers.set(name, value);
        }
    }

    pub(crate) fn timeout(&mut self, limit: Duration) {
        self.extra.timeout = Some(limit);
        if limit.is_zero() {
            self.refuse("a timeout of 0 would end every attempt: leave it out for none");
        }
    }

    pub(crate) fn deadline(&mut self, within: Duration) {
        // A deadline that overflows the clock never comes.
        self.extra.deadline = Instant::now().checked_add(within);
        if within.is_zero() {
            self.refuse("a deadline of 0 has passed already: leave it out for none");
        }
    }

    pub(crate) fn backoff(&mut self, backoff: Backoff) {
        self.extra.backoff = Some(backoff);
        if let Err(error) = backoff.validate() {
            self.refuse(error.to_string());
        }
    }

    pub(crate) fn within(&mut self, bound: Duration) {
        self.wait = if bound.is_zero() { Wait::Not } else { Wait::Within(bound) };
    }

    fn refuse(&mut self, reason: impl Into<Box<str>>) {
        self.invalid.get_or_insert_with(|| reason.into());
    }
}
