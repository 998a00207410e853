//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

/// The answer to `--help`.
pub(crate) const HELP: &str = "\
Usage: service --outbox DIR [--listen ADDRESS] [--slots N] [--capacity N]
               [--deadline SECONDS]

Takes emails (POST /emails) and invoices (POST /invoices) as JSON, and writes each to a
file below DIR. GET /health answers 200 while jobs are consumed, else 503.

      --outbox DIR        where the files go; it is made where it is not there
      --listen ADDRESS    where HTTP is served (127.0.0.1:8080); port 0 takes a free one
      --slots N           how many jobs run at once (as many as there are processors);
                          0 takes jobs and runs none
      --capacity N        how many jobs may wait (10000): what they need in memory is bounded,
                          and a client hears early that it is too much
      --deadline SECONDS  how long the jobs may take once it is told to stop (20)
  -h, --help              this text

SIGTERM or Ctrl-C stops it: no more requests are taken, and what was taken is done until
the deadline. What is not done then is named, line by line. A second one ends it at once.

Exit status: 0 stopped in order, 1 it could not serve or stop in order, 2 usage.
";

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Args {
    pub(crate) outbox: PathBuf,
    pub(crate) listen: SocketAddr,
    /// None: the queue's default.
    pub(crate) slots: Option<usize>,
    pub(crate) capacity: usize,
    pub(crate) deadline: Duration,
}

/// Reads the command line. None: help is wanted.
pub(crate) fn parse() -> Result<Option<Args>, lexopt::Error> {
    let (mut outbox, mut slots, mut capacity, mut deadline) = (None, None, 10_000, 20);
    let mut listen = SocketAddr::from(([127, 0, 0, 1], 8080));
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("outbox") => outbox = Some(PathBuf::from(parser.value()?)),
            Long("listen") => listen = parser.value()?.parse()?,
            Long("slots") => slots = Some(parser.value()?.parse()?),
            Long("capacity") => capacity = parser.value()?.parse()?,
            Long("deadline") => deadline = parser.value()?.parse()?,
            other => return Err(other.unexpected()),
        }
    }
    let outbox = outbox.ok_or("--outbox is missing: which directory?")?;
    Ok(Some(Args { outbox, listen, slots, capacity, deadline: Duration::from_secs(deadline) }))
}
