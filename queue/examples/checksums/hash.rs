//! The handler: reads one file, a piece at a time.

use std::cell::RefCell;
use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use queue::{Context, Error, Outcome};
use sha2::{Digest, Sha256};

use crate::job::Job;
use crate::manifest;
use crate::run::Run;

/// How much is read at once: the sum of it is in the processor's second cache, and a Ctrl-C is seen in milliseconds.
const PIECE: usize = 128 * 1024;

thread_local! {
    /// One buffer a thread, not a file: most files are small.
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; PIECE]);
}

/// What became of a file.
enum Found {
    Digest([u8; 32]),
    /// It is no file any more.
    Skipped(&'static str),
    /// The queue ends.
    Stopped,
}

/// Reads the file of a job, and appends its line to the results.
#[expect(clippy::needless_pass_by_value, reason = "the form of a handler")]
pub(crate) fn checksum(job: Job, cx: Context<Arc<Run>>) -> Outcome {
    let run = cx.state();
    let digest = match read(&run.root.join(job.path()), &cx) {
        Ok(Found::Digest(digest)) => digest,
        Ok(Found::Skipped(what)) => {
            run.progress.file_skipped(job.path(), what);
            return Outcome::done();
        }
        // No attempt is spent, and the job is in the report.
        Ok(Found::Stopped) => return Outcome::snooze(Duration::ZERO),
        Err(error) => return failed(&job, &cx, error),
    };
    match run.results.append(&manifest::line(&digest, job.path())) {
        Ok(()) => {
            run.progress.written();
            Outcome::done()
        }
        // Neither this file nor the next can be recorded.
        Err(error) => {
            run.fail(format!("cannot write the results: {error}"));
            Outcome::snooze(Duration::ZERO)
        }
    }
}

/// A file that could not be read: told once, when no further attempt follows.
fn failed(job: &Job, cx: &Context<Arc<Run>>, error: io::Error) -> Outcome {
    let permanent = is_permanent(&error);
    if permanent || cx.attempt() >= cx.attempts() {
        cx.state().progress.file_unreadable(job.path(), &error);
    }
    Outcome::failed(if permanent { Error::permanent(error) } else { Error::new(error) })
}

/// What a second attempt meets again. All else (an I/O error, too many open files, a stale handle) may pass.
fn is_permanent(error: &io::Error) -> bool {
    let lasting =
        [libc::ENOENT, libc::EACCES, libc::EPERM, libc::ELOOP, libc::ENOTDIR, libc::EISDIR, libc::ENAMETOOLONG];
    error.raw_os_error().is_some_and(|code| lasting.contains(&code))
}

fn read(path: &Path, cx: &Context<Arc<Run>>) -> io::Result<Found> {
    // What was a file when it was found may be a pipe or a link by now: neither may hang the open or be followed.
    let mut file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    let kind = file.metadata()?.file_type();
    if !kind.is_file() {
        return Ok(Found::Skipped(name_of(kind)));
    }
    BUFFER.with_borrow_mut(|buffer| sum(&mut file, buffer, cx))
}

fn sum(file: &mut File, buffer: &mut [u8], cx: &Context<Arc<Run>>) -> io::Result<Found> {
    let mut sum = Sha256::new();
    loop {
        if cx.cancel_reason().is_some() {
            return Ok(Found::Stopped);
        }
        match file.read(buffer) {
            Ok(0) => return Ok(Found::Digest(sum.finalize().into())),
            Ok(length) => {
                sum.update(&buffer[..length]);
                cx.state().progress.read(length);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What something is that is no file.
pub(crate) fn name_of(kind: FileType) -> &'static str {
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "not a file"
    }
}
