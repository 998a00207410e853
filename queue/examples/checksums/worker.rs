//! Where the jobs wait: the one place that names a broker.

use queue::{DynWorker, InvalidRing, Ring, Worker};

use crate::job::Job;

/// How many files may be found ahead of those that are read: enough to keep the slots busy, and no more memory than that.
const AHEAD: usize = 1_024;

/// Why there is no worker for a URL.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkerUrlError {
    /// No worker has this scheme.
    #[error("--worker {url}: unknown scheme, known are: memory:")]
    UnknownScheme { url: String },
    /// The ring has no settings.
    #[error("--worker {url}: nothing can follow memory:")]
    UnknownSetting { url: String },
    #[error(transparent)]
    Ring(#[from] InvalidRing),
}

/// The worker that `url` names.
pub(crate) fn worker(url: &str) -> Result<DynWorker<Job>, WorkerUrlError> {
    match url.split_once(':') {
        Some(("memory", "")) => Ok(Ring::builder().capacity(AHEAD).floor(AHEAD).build()?.boxed()),
        Some(("memory", _)) => Err(WorkerUrlError::UnknownSetting { url: url.to_owned() }),
        _ => Err(WorkerUrlError::UnknownScheme { url: url.to_owned() }),
    }
}
