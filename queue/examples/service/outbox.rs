//! Where finished work goes: a folder in which every file is whole.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Outbox(Arc<Folders>);

#[derive(Debug)]
struct Folders {
    finished: PathBuf,
    /// Inside of it, so that a file moves within one disk.
    unfinished: PathBuf,
}

impl Outbox {
    pub(crate) fn open(finished: &Path) -> io::Result<Self> {
        let unfinished = finished.join("unfinished");
        fs::create_dir_all(&unfinished)?;
        Ok(Self(Arc::new(Folders { finished: finished.to_owned(), unfinished })))
    }

    /// Puts a file there, whole or not at all. A file that is there stays: a job that runs twice has one.
    pub(crate) fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let unfinished = self.0.unfinished.join(name);
        File::create(&unfinished)?.write_all(content)?;
        match fs::hard_link(&unfinished, self.0.finished.join(name)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                eprintln!("{name} was there already");
            }
            linked => linked?,
        }
        fs::remove_file(&unfinished)
    }
}
