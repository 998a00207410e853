//! What goes wrong between the engine and a worker.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// What can be done about a [`WorkerError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorClass {
    /// The same call may succeed later.
    Retry,
    /// The connection is gone; the worker is making a new one.
    Reconnect,
    /// Nobody but a person can help.
    Fatal,
}

/// A broker call that failed: what failed, on which queue, and what to do.
///
/// It shows neither a payload nor a password. One pointer wide; clones are the same error, for one failure often ends
/// many calls.
///
/// ```
/// use queue_core::{ErrorClass, WorkerError};
/// let error = WorkerError::fatal("queue `email` was declared with another type: delete it, or use passive mode");
/// assert_eq!(error.class(), ErrorClass::Fatal);
/// ```
#[derive(Debug, Clone)]
pub struct WorkerError(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    class: ErrorClass,
    message: Box<str>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl WorkerError {
    /// An error of `class`.
    pub fn new(class: ErrorClass, message: impl Into<Box<str>>) -> Self {
        Self(Arc::new(Inner { class, message: message.into(), source: None }))
    }

    /// The same call may succeed later.
    pub fn retry(message: impl Into<Box<str>>) -> Self {
        Self::new(ErrorClass::Retry, message)
    }

    /// The connection is gone.
    pub fn reconnect(message: impl Into<Box<str>>) -> Self {
        Self::new(ErrorClass::Reconnect, message)
    }

    /// Nobody but a person can help.
    pub fn fatal(message: impl Into<Box<str>>) -> Self {
        Self::new(ErrorClass::Fatal, message)
    }

    /// With the client's own error behind it.
    #[must_use]
    pub fn with_source(self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let Inner { class, message, .. } = &*self.0;
        Self(Arc::new(Inner { class: *class, message: message.clone(), source: Some(source.into()) }))
    }

    /// What can be done about it.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        self.0.class
    }
}

impl fmt::Display for WorkerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl StdError for WorkerError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|e| e as &(dyn StdError + 'static))
    }
}

/// Why a request ends without a delivery.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The worker was closed and has nothing left to hand out.
    #[error("the worker is closed")]
    Closed,
    /// The broker call failed. The next request may succeed.
    #[error(transparent)]
    Worker(#[from] WorkerError),
}
