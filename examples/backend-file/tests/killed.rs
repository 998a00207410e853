//! Consumer processes of the file worker are killed at each step of the protocol: nothing is lost, and their history says so.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail their test")]

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use backend_file::{FileWorker, Folder};
use queue_conformance::{AnyCodec, Backend, Job, kill_suite};
use queue_core::WorkerError;
use tempfile::TempDir;

/// Where a consumer process finds the folder of its parent.
const PLACE: &str = "BACKEND_FILE_KILLED";

/// The folder of the parent, or a new one, which is removed with this.
struct Files(PathBuf, #[expect(dead_code, reason = "removed by its drop")] Option<TempDir>);

impl Files {
    fn find() -> Self {
        if let Some(place) = std::env::var_os(PLACE) {
            return Self(place.into(), None);
        }
        let place = tempfile::tempdir().unwrap();
        Self(place.path().to_owned(), Some(place))
    }
}

impl Backend for Files {
    type Worker = FileWorker<Job, AnyCodec>;

    async fn connect(&self, queue: &str, codec: AnyCodec) -> Result<Self::Worker, WorkerError> {
        Folder::new(&self.0).poll(Duration::from_millis(20)).worker_with(queue, codec).await
    }

    fn environment(&self) -> Vec<(&'static str, OsString)> {
        vec![(PLACE, self.0.clone().into_os_string())]
    }

    fn takeover(&self) -> Duration {
        Duration::from_secs(1)
    }
}

// Cited here for the two tests that it makes: C-1, C-10, C-13, C-14.
kill_suite!(Files::find());
