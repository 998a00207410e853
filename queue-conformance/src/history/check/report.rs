//! What a check has found.

use std::fmt;

use super::violation::{Kind, Violation};
use crate::history::Claims;

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What a log has of everything.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counts { $($(#[$doc])* pub $name: u64,)* }

        impl Counts {
            /// All of them, with what they count.
            pub fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$(($text, self.$name),)*].into_iter()
            }
        }
    };
}

counts! {
    /// Events, the header not counted.
    events = "events",
    /// Processes that wrote or were written about.
    processes = "processes",
    /// Publishes that were asked for.
    published = "published",
    /// Publishes that were confirmed.
    confirmed = "confirmed",
    /// Publishes that were refused.
    refused = "refused",
    /// Publishes that nobody knows about: unconfirmed.
    unconfirmed = "unconfirmed",
    /// Publishes that have no answer: their process was killed, or the log ends.
    unanswered = "unanswered",
    /// Publishes without an answer that did happen, by what was delivered.
    happened = "unanswered and happened",
    /// Deliveries.
    delivered = "delivered",
    /// Handlers that started.
    started = "started",
    /// Acks that answered done.
    acked = "acked",
    /// Retries that answered done.
    retried = "retried",
    /// Dead letters that answered done.
    dead = "dead",
    /// Returns that answered done.
    returned = "returned",
    /// Jobs that could not be handed out again: they were moved into their handler.
    gone = "gone",
    /// Jobs that were cancelled by id.
    cancelled = "cancelled",
    /// Dead letters that were put back.
    replayed = "replayed",
    /// Jobs that the inventory lists, wherever they are.
    left = "left",
    /// Deliveries, and copies left at the end, that a kill, a cut, a lost ownership or a failed settle explains.
    duplicates = "explained duplicates",
    /// Those that nothing explains: each is a violation.
    unexplained = "unexplained duplicates",
    /// Settles that answered lost ownership.
    lost = "lost ownership",
    /// Settles that were not answered.
    failed = "failed settles",
    /// Deliveries that were dropped without a verdict.
    gave_up = "given up",
    /// Kills.
    kills = "kills",
    /// Cuts.
    cuts = "cuts",
    /// Deliveries whose wait could not be judged, for the clock ran backwards meanwhile.
    unjudged = "waits not judged",
}

/// The violations of one kind.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Violations {
    /// Which.
    pub kind: Kind,
    /// How many there are.
    pub total: u64,
    /// The first of them, at most [`Report::SHOWN`].
    pub shown: Vec<Violation>,
}

/// What a log says: counts, and each rule that it breaks. Its text is for a person.
#[derive(Debug, Clone)]
pub struct Report {
    pub(super) claims: Claims,
    pub(super) counts: Counts,
    pub(super) violations: Vec<Violations>,
    pub(super) redelivery_ms: Option<u64>,
    pub(super) torn: u64,
    pub(super) torn_last: Option<u64>,
    pub(super) clock_back: Option<(u64, u64)>,
}

impl Report {
    /// How many violations of one kind are kept and shown.
    pub const SHOWN: usize = 10;

    /// Whether the run kept what it claims.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.violations.is_empty()
    }

    /// What the run was held to.
    #[must_use]
    pub const fn claims(&self) -> Claims {
        self.claims
    }

    /// What was counted.
    #[must_use]
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What was broken, by kind, in the order of [`Kind`].
    #[must_use]
    pub fn violations(&self) -> &[Violations] {
        &self.violations
    }

    /// How many violations there are of `kind`.
    #[must_use]
    pub fn count(&self, kind: Kind) -> u64 {
        self.violations.iter().find(|of| of.kind == kind).map_or(0, |of| of.total)
    }

    /// The longest time in milliseconds from a kill to the next delivery of a job that was open then.
    #[must_use]
    pub const fn longest_redelivery_ms(&self) -> Option<u64> {
        self.redelivery_ms
    }

    /// The last line, where it was torn.
    #[must_use]
    pub const fn torn_last_line(&self) -> Option<u64> {
        self.torn_last
    }

    /// How many lines were torn, the last included.
    #[must_use]
    pub const fn torn_lines(&self) -> u64 {
        self.torn
    }

    /// The first line at which a clock ran backwards, where one did.
    #[must_use]
    pub fn clock_ran_backwards(&self) -> Option<u64> {
        self.clock_back.map(|(line, _)| line)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, count) in self.counts.all().filter(|(_, count)| *count > 0) {
            writeln!(f, "{name:>24}  {count}")?;
        }
        if let Some(ms) = self.redelivery_ms {
            writeln!(f, "{:>24}  {ms} ms", "kill to next delivery")?;
        }
        if let Some(line) = self.torn_last {
            writeln!(f, "note: the last line, {line}, is torn: a process ended while it wrote")?;
        }
        let within = self.torn - u64::from(self.torn_last.is_some());
        if within > 0 {
            writeln!(f, "note: {within} lines are torn; the kills that are noted explain them")?;
        }
        if self.counts.published == 0 {
            writeln!(f, "note: nothing was published: the log says nothing of any job")?;
        }
        if let Some((line, by)) = self.clock_back {
            writeln!(
                f,
                "note: the clock ran backwards, first at line {line} by {by} ms: waits across it are not judged"
            )?;
        }
        for of in &self.violations {
            writeln!(f, "{} ({}):", of.kind, of.total)?;
            for violation in &of.shown {
                writeln!(f, "  {violation}")?;
            }
            let more = of.total - of.shown.len() as u64;
            if more > 0 {
                writeln!(f, "  … and {more} more")?;
            }
        }
        let broken: u64 = self.violations.iter().map(|of| of.total).sum();
        if broken == 0 { f.write_str("the log holds") } else { write!(f, "the log does not hold: {broken} violations") }
    }
}
