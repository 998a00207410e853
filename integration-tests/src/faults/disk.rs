//! A small disk that can be full.
//!
//! A tmpfs of its own in a temporary folder, so root on Linux is needed, with the right to mount. A watcher, a shell that waits for the
//! end of its input, unmounts it when the disk is dropped, and also when the test process is killed: no mount stays behind.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::num::NonZeroU64;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::mount::{MountFlags, mount};

/// Unmounts, lazily because a server may still have files open there, and removes the folder. In a process group of its own, so that
/// what ends the test's group does not end it first.
const WATCHER: &str = r#"trap '' HUP INT TERM; cat >/dev/null; umount -l -- "$1"; rmdir -- "$1""#;

/// The longest that a drop waits for the watcher.
const DEADLINE: Duration = Duration::from_secs(10);

/// The file that fills the disk.
const FILLER: &str = ".filler";

/// The disk cannot be had, filled or freed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    /// Only root can mount.
    #[error("a small disk is a mount, and only root can mount; run the test as root, or leave it out and say so")]
    NotRoot,
    /// The folder or the watcher cannot be had.
    #[error("no folder or no shell for a small disk; is there a temporary folder, and sh in the path?")]
    Prepare {
        /// Why not.
        source: io::Error,
    },
    /// The system refused the mount.
    #[error("no tmpfs can be mounted at {}; root in a container needs the capability SYS_ADMIN", path.display())]
    Mount {
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The filler cannot be written or removed.
    #[error("the small disk at {} cannot be filled or freed", path.display())]
    Filler {
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// A folder on a disk of its own, unmounted and removed with all that is in it when this is dropped.
#[derive(Debug)]
pub struct SmallDisk {
    path: PathBuf,
    watcher: Watcher,
}

impl SmallDisk {
    /// Mounts a disk of that many bytes, which the system rounds up to whole pages.
    ///
    /// # Errors
    ///
    /// [`DiskError::NotRoot`] before anything is done; else what failed, and nothing stays behind.
    pub fn mount(bytes: NonZeroU64) -> Result<Self, DiskError> {
        permitted(rustix::process::geteuid().is_root())?;
        let prepare = |source| DiskError::Prepare { source };
        let folder = tempfile::Builder::new().prefix("small-disk-").tempdir().map_err(prepare)?;
        // The watcher is there before the mount, and has the folder from here on.
        let watcher = Watcher::start(folder.path()).map_err(prepare)?;
        let path = folder.keep();
        let options = CString::new(format!("size={bytes},mode=0700")).map_err(|error| prepare(error.into()))?;
        mount("tmpfs", &path, "tmpfs", MountFlags::NODEV | MountFlags::NOSUID, options.as_c_str())
            .map_err(|error| DiskError::Mount { path: path.clone(), source: error.into() })?;
        Ok(Self { path, watcher })
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes until no byte more can be written; says how many were.
    ///
    /// The end of a file that another program writes may still grow to the end of its page, 4 KiB on most machines.
    ///
    /// # Errors
    ///
    /// [`DiskError::Filler`] for any error but that the disk is full.
    pub fn fill(&self) -> Result<u64, DiskError> {
        let filled = || {
            let mut filler = File::options().create(true).append(true).open(self.path.join(FILLER))?;
            let (block, mut written) = ([0; 16 * 1024], 0);
            loop {
                match filler.write(&block) {
                    Ok(more) => written += more as u64,
                    Err(error) if error.kind() == ErrorKind::StorageFull => return Ok(written),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        };
        filled().map_err(|source| self.filler(source))
    }

    /// Removes what [`fill`](Self::fill) has written. Does nothing if that is nothing.
    ///
    /// # Errors
    ///
    /// [`DiskError::Filler`] when it cannot be removed.
    pub fn free(&self) -> Result<(), DiskError> {
        match fs::remove_file(self.path.join(FILLER)) {
            Err(source) if source.kind() != ErrorKind::NotFound => Err(self.filler(source)),
            _ => Ok(()),
        }
    }

    fn filler(&self, source: io::Error) -> DiskError {
        DiskError::Filler { path: self.path.clone(), source }
    }

    /// The pid of the process that unmounts the disk at the end.
    #[must_use]
    pub fn watcher(&self) -> u32 {
        self.watcher.pid
    }
}

const fn permitted(root: bool) -> Result<(), DiskError> {
    if root { Ok(()) } else { Err(DiskError::NotRoot) }
}

/// The shell that unmounts, and what it waits for.
#[derive(Debug)]
struct Watcher {
    pid: u32,
    /// Closed by the drop, or by the kernel when this process ends in any way.
    input: Option<ChildStdin>,
    shell: Option<Child>,
}

impl Watcher {
    fn start(folder: &Path) -> io::Result<Self> {
        let mut shell = Command::new("sh")
            .args(["-c", WATCHER, "sh"])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self { pid: shell.id(), input: shell.stdin.take(), shell: Some(shell) })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        drop(self.input.take());
        let Some(mut shell) = self.shell.take() else { return };
        // A thread, because `wait` has no deadline.
        let (ended, end) = mpsc::channel();
        thread::spawn(move || drop(shell.wait().map(|_| ended.send(()))));
        let _goes_on_by_itself = end.recv_timeout(DEADLINE).is_err();
    }
}

#[cfg(test)]
mod tests {
    use super::{DiskError, permitted};

    #[test]
    fn who_is_not_root_is_told_so() {
        assert!(matches!(permitted(false), Err(DiskError::NotRoot)));
        assert!(DiskError::NotRoot.to_string().contains("run the test as root"));
    }
}
