//! What a route has for itself.

use std::time::Duration;

#[cfg(feature = "json")]
use queue_core::codec::Json;

use super::InvalidRoute;
use crate::Retry;

/// What a route has for itself: its codec, and settings that win over those of the queue.
///
/// What is not set is as on the queue. An option of the job (`queue.job(job).retries(1)`) wins over both.
///
/// ```
/// # use queue::{Retry, RouteOptions};
/// # use std::time::Duration;
/// let patient = RouteOptions::new().retry(Retry::exponential(20)).timeout(Duration::from_secs(60));
/// # drop(patient);
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct RouteOptions<C> {
    pub(super) codec: C,
    pub(super) limits: Limits,
}

#[cfg(feature = "json")]
impl RouteOptions<Json> {
    /// JSON, and the settings of the queue.
    pub const fn new() -> Self {
        Self::with_codec(Json::new())
    }
}

#[cfg(feature = "json")]
impl Default for RouteOptions<Json> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C> RouteOptions<C> {
    /// The body is read by `codec`; the settings are those of the queue.
    pub const fn with_codec(codec: C) -> Self {
        Self { codec, limits: Limits { retry: None, timeout: None, deadline: None } }
    }

    /// How failed jobs are tried again. On a worker without retries, any but [`Retry::none`] is an error of
    /// [`start`](crate::Builder::start).
    pub const fn retry(mut self, retry: Retry) -> Self {
        self.limits.retry = Some(retry);
        self
    }

    /// The limit of one attempt, as [`Builder::timeout`](crate::Builder::timeout); [`Duration::MAX`] is none.
    pub const fn timeout(mut self, limit: Duration) -> Self {
        self.limits.timeout = Some(limit);
        self
    }

    /// No attempt starts later than this after the job was enqueued, as [`Builder::deadline`](crate::Builder::deadline);
    /// [`Duration::MAX`] is never.
    pub const fn deadline(mut self, within: Duration) -> Self {
        self.limits.deadline = Some(within);
        self
    }
}

/// The settings of a route.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) retry: Option<Retry>,
    pub(super) timeout: Option<Duration>,
    pub(super) deadline: Option<Duration>,
}

impl Limits {
    pub(super) const fn is_empty(&self) -> bool {
        self.retry.is_none() && self.timeout.is_none() && self.deadline.is_none()
    }

    /// Whether it asks for more than one attempt.
    pub(super) fn retries(&self) -> bool {
        self.retry.is_some_and(|retry| retry.attempts() > 1)
    }

    pub(super) fn validate(&self) -> Result<(), InvalidRoute> {
        if self.timeout.is_some_and(|limit| limit.is_zero()) {
            return Err(InvalidRoute::TimeoutZero);
        }
        if self.deadline.is_some_and(|within| within.is_zero()) {
            return Err(InvalidRoute::DeadlineZero);
        }
        Ok(self.retry.map_or(Ok(()), |retry| retry.validate())?)
    }
}
