//! A process whose wall clock is wrong.
//!
//! Through libfaketime, which answers the process's questions for the time of day and leaves its monotonic clock alone, as a machine whose
//! clock was set wrongly does. It reaches programs that ask through the C library, as Rust's do; one that is linked statically or
//! has extra rights keeps the right time.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// For programs with threads; the same in all of its packages.
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// Where packages put it, besides one folder below for the architecture (Debian).
const FOLDERS: [&str; 4] = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib"];

/// How far a clock is off, to the nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// It shows a later time than it is.
    Ahead(Duration),
    /// It shows an earlier time than it is.
    Behind(Duration),
}

/// The clock cannot be shifted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClockError {
    /// libfaketime is not on this machine.
    #[error("{LIBRARY} is in none of {FOLDERS:?}; install the package libfaketime (Debian, Ubuntu, Fedora)")]
    NotInstalled,
    /// What a killed process left cannot be removed.
    #[error("{} cannot be removed; remove it as the user of the process", path.display())]
    Sweep {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Whether libfaketime is on this machine.
#[must_use]
pub fn is_installed() -> bool {
    find(FOLDERS.iter().map(Path::new)).is_some()
}

/// Has the process that a command will start, and those that it starts, see a wall clock that is off.
///
/// Sets `LD_PRELOAD`, and `FAKETIME` and its companions; what was set for this command before is replaced. `spawn` it as it is: a wrapper
/// in between, such as `timeout`, would have the clock too. Call [`sweep`] after the process was killed.
///
/// # Errors
///
/// [`ClockError::NotInstalled`]; the command is as before.
pub fn shift(command: &mut Command, by: Shift) -> Result<(), ClockError> {
    let library = find(FOLDERS.iter().map(Path::new)).ok_or(ClockError::NotInstalled)?;
    let (sign, by) = match by {
        Shift::Ahead(by) => ('+', by),
        Shift::Behind(by) => ('-', by),
    };
    command
        .env("LD_PRELOAD", library)
        .env("FAKETIME", format!("{sign}{}.{:09}", by.as_secs(), by.subsec_nanos()))
        // Two names: that of 0.9.8 and later, and the one before.
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .env("DONT_FAKE_MONOTONIC", "1")
        // Those of a test that has a wrong clock itself are not this process's.
        .env_remove("FAKETIME_SHARED")
        .env_remove("FAKETIME_TIMESTAMP_FILE");
    Ok(())
}

/// Removes the two files that libfaketime leaves in `/dev/shm` when its process is killed.
///
/// A later process that was given the same pid would not start for them. Call it when the process of that pid is gone.
///
/// # Errors
///
/// [`ClockError::Sweep`] when one is there and cannot be removed.
pub fn sweep(pid: u32) -> Result<(), ClockError> {
    for path in [format!("/dev/shm/faketime_shm_{pid}"), format!("/dev/shm/sem.faketime_sem_{pid}")] {
        match fs::remove_file(&path) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                return Err(ClockError::Sweep { path: path.into(), source });
            }
            _ => {}
        }
    }
    Ok(())
}

/// The library in one of the folders, or one below it.
fn find<'a>(folders: impl Iterator<Item = &'a Path>) -> Option<PathBuf> {
    folders
        .flat_map(|folder| {
            let below = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
            std::iter::once(folder.to_path_buf()).chain(below)
        })
        .map(|folder| folder.join(LIBRARY))
        .find(|library| library.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{ClockError, LIBRARY, find};

    #[test]
    fn the_library_is_found_in_a_folder_and_in_that_of_an_architecture() {
        for below in ["", "x86_64-linux-gnu"] {
            let dir = tempfile::tempdir().unwrap();
            assert_eq!(find([dir.path()].into_iter()), None);
            let library = dir.path().join(below).join(LIBRARY);
            fs::create_dir_all(library.parent().unwrap()).unwrap();
            fs::write(&library, "").unwrap();
            assert_eq!(find([Path::new("/nowhere"), dir.path()].into_iter()), Some(library));
        }
    }

    #[test]
    fn who_does_not_find_it_is_told_the_package() {
        assert!(ClockError::NotInstalled.to_string().contains("install the package libfaketime"));
    }
}
