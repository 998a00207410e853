//! Checks a log of what a queue did: `queue-history LOG`.

#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::process::ExitCode;

use queue_conformance::history::{LogError, Report, check};

const HELP: &str = "\
Checks a log of what a job queue did: whether a confirmed job was lost, one was invented, altered or
delivered twice without a reason, settled twice, acked too early, or came in the wrong order.

Usage: queue-history LOG
       queue-history -          reads the standard input
       queue-history --help

Exit code: 0 the log holds, 1 it does not, 2 it could not be read.
The format of a log stands in docs/history-log.md.
";

/// The log does not hold.
const BROKEN: u8 = 1;
/// Nobody can tell.
const UNREADABLE: u8 = 2;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let code = match (arguments.next(), arguments.next()) {
        (Some(help), None) if help == "--help" || help == "-h" => {
            write!(io::stdout(), "{HELP}").map(|()| ExitCode::SUCCESS)
        }
        (Some(log), None) if log == "-" || !log.as_encoded_bytes().starts_with(b"-") => run(&log),
        _ => write!(io::stderr(), "one log was expected\n\n{HELP}").map(|()| ExitCode::from(UNREADABLE)),
    };
    // Nobody reads what is printed any more: the code still says it.
    code.unwrap_or_else(|_| ExitCode::from(UNREADABLE))
}

fn run(log: &OsStr) -> io::Result<ExitCode> {
    match read(log) {
        Ok(report) => {
            writeln!(io::stdout(), "{report}")?;
            Ok(if report.holds() { ExitCode::SUCCESS } else { ExitCode::from(BROKEN) })
        }
        Err(error) => {
            write!(io::stderr(), "{}: {error}", log.to_string_lossy())?;
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                write!(io::stderr(), ": {cause}")?;
                source = cause.source();
            }
            writeln!(io::stderr())?;
            Ok(ExitCode::from(UNREADABLE))
        }
    }
}

fn read(log: &OsStr) -> Result<Report, LogError> {
    if log == "-" {
        return check(io::stdin().lock());
    }
    let file = File::open(log).map_err(|source| LogError::Io { line: 0, source })?;
    let mut reader = BufReader::with_capacity(1 << 18, file);
    // A folder opens and does not read.
    reader.fill_buf().map_err(|source| LogError::Io { line: 0, source })?;
    check(reader)
}
