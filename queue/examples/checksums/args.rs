//! The command line.

use std::ffi::OsStr;
use std::path::PathBuf;

use lexopt::prelude::*;

/// The answer to `--help`.
pub(crate) const HELP: &str = "\
Usage: checksums PATH [--slots N] [--out FILE] [--worker URL]

Writes the SHA-256 of every file below the directory PATH, sorted by name, in the form
that `sha256sum --check` reads from within PATH.

      --slots N     how many files are read at once, 1 to 256 (as many as there are processors)
      --out FILE    where the manifest goes (standard output); replaced in one step at the end,
                    until then what is done is in FILE.partial
      --worker URL  where the jobs wait (memory:)
  -h, --help        this text

Symbolic links below PATH are not followed and not listed. Pipes, sockets and devices are
skipped with a message, never opened. FILE itself is left out where it lies below PATH.
Ctrl-C stops: what is done stays, in FILE.partial or on standard output, and the rest is
counted. A second Ctrl-C ends at once.

Exit status: 0 all done, 1 something could not be read or written, 2 usage, 130 Ctrl-C.
";

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Args {
    /// The directory.
    pub(crate) path: PathBuf,
    /// How many files at once. None: the queue's default.
    pub(crate) slots: Option<usize>,
    /// Where the manifest goes. None: standard output.
    pub(crate) out: Option<PathBuf>,
    /// Where the jobs wait.
    pub(crate) worker: String,
}

/// Each slot reads on a thread of its own.
const MAX_SLOTS: usize = 256;

/// Reads the command line. None: help is wanted.
pub(crate) fn parse() -> Result<Option<Args>, lexopt::Error> {
    let (mut path, mut slots, mut out, mut worker) = (None, None, None, None);
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("slots") => once(&mut slots, "--slots", read_slots(&parser.value()?)?)?,
            Long("out") => once(&mut out, "--out", PathBuf::from(parser.value()?))?,
            Long("worker") => once(&mut worker, "--worker", parser.value()?.string()?)?,
            Value(value) => once(&mut path, "PATH", PathBuf::from(value))?,
            other => return Err(other.unexpected()),
        }
    }
    let path = path.ok_or("PATH is missing: which directory?")?;
    let worker = worker.unwrap_or_else(|| "memory:".to_owned());
    Ok(Some(Args { path, slots, out, worker }))
}

fn once<T>(place: &mut Option<T>, name: &str, value: T) -> Result<(), lexopt::Error> {
    if place.replace(value).is_some() { Err(format!("{name} was given twice").into()) } else { Ok(()) }
}

fn read_slots(value: &OsStr) -> Result<usize, lexopt::Error> {
    let number = value.to_str().and_then(|text| text.parse().ok()).filter(|slots| (1..=MAX_SLOTS).contains(slots));
    number.ok_or_else(|| format!("--slots {} is no number from 1 to {MAX_SLOTS}", value.display()).into())
}
