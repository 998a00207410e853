//! Folders of the cache: there and complete, or not there.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, test_kill_process};

use crate::brokers::{BrokerError, locate};

/// Fills a folder beside its place and moves it there when `fill` has succeeded. What another process has put there meanwhile stays.
///
/// # Errors
///
/// Those of `fill`, and [`BrokerError::Folder`]. Nothing is left then.
pub(super) fn filled(place: &Path, fill: impl FnOnce(&Path) -> Result<(), BrokerError>) -> Result<(), BrokerError> {
    let failed = |source| BrokerError::Folder { path: place.to_owned(), source };
    sweep();
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let part = Part(place.with_file_name(format!("{name}.part-{}", std::process::id())));
    fs::create_dir_all(&part.0).map_err(failed)?;
    fill(&part.0)?;
    match fs::rename(&part.0, place) {
        Err(_) if place.exists() => Ok(()),
        moved => moved.map_err(failed),
    }
}

struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Removes the parts of processes that were killed.
fn sweep() {
    for entry in fs::read_dir(locate::cache()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = name.rsplit_once(".part-").and_then(|(_, pid)| Pid::from_raw(pid.parse().ok()?));
        if pid.is_some_and(|pid| test_kill_process(pid).is_err()) {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}
