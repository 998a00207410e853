//! An attempt that somebody wants to hear of: a hook, a span, a metric.

use std::time::Duration;

use queue_core::{JobId, Meta};
use tokio::time::Instant;

use super::{AttemptEnd, Completion, Fate};
use crate::log::JobSpan;

/// An attempt, from before its start until its verdict is carried out.
#[derive(Debug)]
pub(crate) struct Observed {
    pub(crate) span: JobSpan,
    id: JobId,
    attempt: u32,
    began: Instant,
    end: Option<(AttemptEnd, Duration)>,
    error: Box<str>,
}

impl Observed {
    pub(crate) fn begin(queue: &str, meta: &Meta) -> Self {
        let span = JobSpan::new(|| {
            tracing::info_span!(
                "job",
                queue,
                id = %meta.id,
                attempt = meta.attempt,
                outcome = tracing::field::Empty,
            )
        });
        let Meta { id, attempt, .. } = *meta;
        Self { span, id, attempt, began: Instant::now(), end: None, error: Box::default() }
    }

    /// The attempt has ended.
    pub(crate) fn end(&mut self, end: AttemptEnd) {
        self.span.record("outcome", end.name());
        self.end = Some((end, self.began.elapsed()));
    }

    /// What went wrong, in words.
    pub(crate) fn set_error(&mut self, error: &str) {
        self.error = error.into();
    }

    /// What is told of it. None where no attempt was made: the job never started.
    pub(crate) fn complete(self, queue: &std::sync::Arc<str>, fate: Fate) -> Option<Completion> {
        let (end, duration) = self.end?;
        let Self { id, attempt, error, .. } = self;
        Some(Completion { queue: queue.clone(), id, attempt, end, fate, duration, error })
    }
}
