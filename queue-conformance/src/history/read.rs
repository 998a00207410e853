//! Lines of a log, one after the other, and what is wrong with them.

use std::io::{self, BufRead, Read};

use serde::Deserialize;

use super::claims::{Claims, VERSION};
use super::event::Line;

/// The longest line in bytes, its end included. Ours have less than 300; one above this is refused before it is held in memory.
pub const MAX_LINE: usize = 16 * 1024;

/// How many torn lines a log may have: each needs a kill.
const MAX_TORN: u64 = 1_000;

/// How many beginnings of an event are tried within a torn line.
const MAX_TRIES: usize = 64;

/// Why a log cannot be read. A torn last line is none of these: the report tells it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file could not be read.
    #[error("the log could not be read at line {line}")]
    Io {
        /// The line.
        line: u64,
        /// Why.
        source: io::Error,
    },
    /// There is nothing in it.
    #[error("the log is empty: its first line must be a header such as {{\"history\":1}}")]
    Empty,
    /// The first line is no header.
    #[error("line 1 is no header such as {{\"history\":1,\"order\":\"none\"}}: {found}")]
    NoHeader {
        /// What was found.
        found: Box<str>,
    },
    /// It was written by a newer version.
    #[error("the log has version {found}, and this program reads versions up to {known}: use a newer one")]
    Newer {
        /// The version of the log.
        found: u64,
        /// The newest version that is known.
        known: u32,
    },
    /// A line is too long.
    #[error("line {line} is longer than {limit} bytes: no event is")]
    TooLong {
        /// The line.
        line: u64,
        /// The limit.
        limit: usize,
    },
    /// A line is no event.
    #[error("line {line} is no event: {found}")]
    NoEvent {
        /// The line.
        line: u64,
        /// What was found, and what is known.
        found: Box<str>,
    },
    /// A line is torn, and no kill explains it.
    #[error(
        "line {line} is torn, and the log notes {kills} kills for {torn} torn lines: note each process that was killed"
    )]
    Torn {
        /// The first torn line.
        line: u64,
        /// How many are torn.
        torn: u64,
        /// How many kills are noted.
        kills: u64,
    },
    /// A line contradicts those before it.
    #[error("line {line} contradicts the log: {what}")]
    Contradiction {
        /// The line.
        line: u64,
        /// What it says.
        what: Box<str>,
    },
}

/// What is left of an error of the parser: it may quote a text of the line, and that may be long.
fn shortened(error: &serde_json::Error) -> Box<str> {
    let text = error.to_string();
    // The parser's own place: lines are counted from the log's beginning here.
    let text = text.replace(" at line 1 column ", " at column ");
    if text.chars().count() <= 400 { text.into() } else { text.chars().take(400).chain("…".chars()).collect() }
}

/// The claims in a first line.
fn read_claims(line: &[u8]) -> Result<Claims, LogError> {
    #[derive(Deserialize)]
    struct Version {
        history: u64,
    }
    let no_header = |error: serde_json::Error| LogError::NoHeader { found: shortened(&error) };
    let Version { history } = serde_json::from_slice(line).map_err(no_header)?;
    if history > u64::from(VERSION) {
        return Err(LogError::Newer { found: history, known: VERSION });
    }
    if history == 0 {
        return Err(LogError::NoHeader { found: "version 0: the first is 1".into() });
    }
    serde_json::from_slice(line).map_err(no_header)
}

/// The claims of a log that begins here.
pub(super) fn first_line(reader: impl BufRead) -> Result<Claims, LogError> {
    Lines::new(reader).claims()
}

/// Reads lines, and knows which are torn.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// The number of the line in the buffer, from 1 on.
    number: u64,
    /// Whether it had an end.
    whole: bool,
    torn: Torn,
}

/// Lines that a crash cut off.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Torn {
    /// Those with another process's line behind them: the first, and how many.
    within: Option<(u64, u64)>,
    /// The last line.
    pub(super) last: Option<u64>,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), number: 0, whole: false, torn: Torn { within: None, last: None } }
    }

    /// Reads one line into the buffer. False at the end.
    fn fill(&mut self) -> Result<bool, LogError> {
        self.buffer.clear();
        let line = self.number + 1;
        let mut limited = (&mut self.reader).take(MAX_LINE as u64 + 1);
        let count = limited.read_until(b'\n', &mut self.buffer).map_err(|source| LogError::Io { line, source })?;
        if count > MAX_LINE {
            return Err(LogError::TooLong { line, limit: MAX_LINE });
        }
        self.number += u64::from(count > 0);
        self.whole = self.buffer.last() == Some(&b'\n');
        if self.whole {
            self.buffer.pop();
        }
        Ok(count > 0)
    }

    pub(super) fn claims(&mut self) -> Result<Claims, LogError> {
        if !self.fill()? {
            return Err(LogError::Empty);
        }
        read_claims(&self.buffer)
    }

    /// Gives each event of the next line, usually one, to `each` with the line's number. False at the end.
    pub(super) fn next(
        &mut self,
        mut each: impl FnMut(u64, Line<'_>) -> Result<(), LogError>,
    ) -> Result<bool, LogError> {
        if !self.fill()? {
            return Ok(false);
        }
        let number = self.number;
        match serde_json::from_slice::<Line<'_>>(&self.buffer) {
            Ok(line) => each(number, line).map(|()| true),
            Err(error) if !self.whole => {
                if !error.is_eof() {
                    return Err(no_event(number, &error));
                }
                self.torn.last = Some(number);
                Ok(true)
            }
            Err(error) => {
                let Some((head, tail)) = split(&self.buffer) else { return Err(no_event(number, &error)) };
                let (first, torn) = self.torn.within.unwrap_or((number, 0));
                if torn == MAX_TORN {
                    return Err(no_event(number, &error));
                }
                self.torn.within = Some((first, torn + 1));
                if let Some(head) = head {
                    each(number, head)?;
                }
                each(number, tail).map(|()| true)
            }
        }
    }

    /// What was torn. An error where more lines are than processes were killed.
    pub(super) fn torn(&self, kills: u64) -> Result<Torn, LogError> {
        match self.torn.within {
            Some((line, torn)) if torn > kills => Err(LogError::Torn { line, torn, kills }),
            _ => Ok(self.torn),
        }
    }
}

impl Torn {
    /// How many lines are torn in all.
    pub(super) fn count(&self) -> u64 {
        self.within.map_or(0, |(_, torn)| torn) + u64::from(self.last.is_some())
    }
}

fn no_event(line: u64, error: &serde_json::Error) -> LogError {
    LogError::NoEvent { line, found: shortened(error) }
}

/// The two events of a line whose first writer was killed before it had written all of it: what it had written stands before the line of
/// another process. None for the first where it is only a part of an event.
fn split(line: &[u8]) -> Option<(Option<Line<'_>>, Line<'_>)> {
    let begins = |at: &usize| line[*at..].starts_with(b"{\"p\"");
    (1..line.len()).filter(begins).take(MAX_TRIES).find_map(|at| {
        let tail = serde_json::from_slice(&line[at..]).ok()?;
        match serde_json::from_slice(&line[..at]) {
            Ok(head) => Some((Some(head), tail)),
            Err(error) if error.is_eof() => Some((None, tail)),
            Err(_) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Vec<u64>, Torn), LogError> {
        let mut lines = Lines::new(text.as_bytes());
        lines.claims()?;
        let mut seen = Vec::new();
        while lines.next(|number, _| {
            seen.push(number);
            Ok(())
        })? {}
        Ok((seen, lines.torn(1)?))
    }

    #[test]
    fn a_torn_last_line_is_told_and_a_whole_one_without_an_end_counts() {
        let (seen, torn) = read("{\"history\":1}\n{\"p\":\"a\",\"closed\":{}}\n{\"p\":\"a\",\"clo").unwrap();
        assert_eq!((seen, torn.last, torn.count()), (vec![2], Some(3), 1));
        let (seen, torn) = read("{\"history\":1}\n{\"p\":\"a\",\"closed\":{}}").unwrap();
        assert_eq!((seen, torn.last), (vec![2], None));
    }

    #[test]
    fn a_line_torn_by_a_kill_is_found_before_the_line_of_another() {
        let (seen, torn) = read("{\"history\":1}\n{\"p\":\"a\",\"ms\":1,{\"p\":\"b\",\"closed\":{}}\n").unwrap();
        assert_eq!((seen, torn.count(), torn.last), (vec![2], 1, None));
        // The last byte alone is missing: both are events.
        let (seen, _) = read("{\"history\":1}\n{\"p\":\"a\",\"closed\":{}}{\"p\":\"b\",\"closed\":{}}\n").unwrap();
        assert_eq!(seen, [2, 2]);
        let twice = "{\"p\":\"a\",{\"p\":\"b\",\"closed\":{}}\n".repeat(2);
        let error = read(&format!("{{\"history\":1}}\n{twice}")).unwrap_err();
        assert!(matches!(error, LogError::Torn { line: 2, torn: 2, kills: 1 }), "{error}");
    }
}
