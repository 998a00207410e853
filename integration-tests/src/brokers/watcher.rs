//! The process that cleans up when this one ends, however it ends.

use std::env;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::{BrokerError, Deadline, unique};

/// What it runs.
const SCRIPT: &str = include_str!("watcher.sh");
/// It tries for two seconds to remove the folders, for five to remove a container.
const DEADLINE: Duration = Duration::from_secs(15);

/// A folder of one broker, and the `sh` that removes it and the broker when the pipe to it is closed.
///
/// It is no child that needs care: it survives this process, and a Ctrl-C, which goes to another process group.
#[derive(Debug)]
pub(super) struct Watcher {
    folder: PathBuf,
    process: Child,
}

impl Watcher {
    /// Makes a new folder in `parent` and watches it. `data` is one more folder to remove, and `container` one to remove by docker.
    ///
    /// # Errors
    ///
    /// [`BrokerError::Folder`] and [`BrokerError::Program`]; nothing is left then.
    pub(super) fn start(parent: &Path, data: Option<&Path>, container: &str) -> Result<Self, BrokerError> {
        let folder = parent.join(unique("queue-test"));
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|source| BrokerError::Folder { path: parent.to_owned(), source })?;
        let mut sh = Command::new("/bin/sh");
        sh.args(["-c", SCRIPT, "queue-test-watcher"])
            .arg(&folder)
            .arg(data.unwrap_or_else(|| Path::new("")))
            .arg(container);
        sh.current_dir("/").process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        match sh.spawn() {
            Ok(process) => Ok(Self { folder, process }),
            Err(source) => {
                // Empty: nobody knows it yet.
                drop(std::fs::remove_dir(&folder));
                Err(BrokerError::Program { program: "/bin/sh".into(), source })
            }
        }
    }

    /// Where temporary files are.
    pub(super) fn temporary() -> PathBuf {
        env::temp_dir()
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Watcher {
    /// Cleans up now, and waits for it: ten seconds at most.
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let ended = |process: &mut Child| -> io::Result<bool> { Ok(process.try_wait()?.is_some()) };
        let done = Deadline::after(DEADLINE).until(|| ended(&mut self.process).unwrap_or(true).then_some(()));
        if done.is_none() {
            super::say(&format!("the clean-up of {} has not ended after {DEADLINE:?}", self.folder.display()));
        }
    }
}
