//! What is queued.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A file to read.
///
/// The path is relative to PATH, so that processes that see the tree in different places can share a queue. It is kept as
/// bytes, because a name on Unix is any bytes: every codec carries a list of numbers, and none carries half a character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    path: Vec<u8>,
}

impl Job {
    /// The file at `path`, relative to PATH.
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.as_os_str().as_bytes().to_vec() }
    }

    /// Where it is, relative to PATH.
    pub(crate) fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }
}
