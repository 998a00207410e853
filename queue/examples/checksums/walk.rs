//! Finds the files.

use std::path::{Path, PathBuf};

use queue::{EnqueueError, Enqueuer};
use tokio::runtime::Handle;
use walkdir::{DirEntry, WalkDir};

use crate::hash::name_of;
use crate::job::Job;
use crate::run::Run;

/// Enqueues every file below the root but those in `but`, on a thread that may block. The queue's room sets its pace.
///
/// # Errors
/// With the job that was not queued: the queue is closed.
pub(crate) fn walk(run: &Run, but: &[PathBuf], jobs: &Enqueuer<Job>) -> Result<(), EnqueueError<Job>> {
    let runtime = Handle::current();
    for entry in WalkDir::new(&run.root).min_depth(1) {
        if run.stop.is_cancelled() {
            return Ok(());
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().unwrap_or(&run.root);
                let reason: &dyn std::fmt::Display = error.io_error().map_or(&error, |error| error);
                run.progress.unreadable(relative(path, &run.root), reason);
                continue;
            }
        };
        let path = relative(entry.path(), &run.root);
        if is_wanted(&entry, path, run) && !but.iter().any(|but| but == path) {
            run.progress.found();
            runtime.block_on(jobs.enqueue(Job::new(path)))?;
        }
    }
    Ok(())
}

fn relative<'a>(path: &'a Path, root: &Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}

fn is_wanted(entry: &DirEntry, path: &Path, run: &Run) -> bool {
    let kind = entry.file_type();
    if !(kind.is_file() || kind.is_dir() || kind.is_symlink()) {
        run.progress.skipped(path, name_of(kind));
    }
    kind.is_file()
}
