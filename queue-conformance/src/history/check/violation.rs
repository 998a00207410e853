//! The rules, and how each is broken.

use std::fmt;

use queue_core::JobId;

use crate::history::event::End;

/// One broken rule: fields, and the sentence that a person reads.
macro_rules! violations {
    ($($(#[$doc:meta])* $variant:ident, $title:literal { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* } => $sentence:literal;)*) => {
        /// The kinds of [`Violation`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Kind { $($(#[$doc])* $variant,)* }

        impl Kind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];
        }

        impl fmt::Display for Kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $title,)* })
            }
        }

        /// A rule that the log breaks, with the job and the lines that show it.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Violation {
            $($(#[$doc])* #[non_exhaustive] $variant { $($(#[$field_doc])* $field: $type,)* },)*
        }

        impl Violation {
            /// Which rule it breaks.
            #[must_use]
            pub const fn kind(&self) -> Kind {
                match self { $(Self::$variant { .. } => Kind::$variant,)* }
            }
        }

        impl fmt::Display for Violation {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Self::$variant { $($field,)* } => write!(f, $sentence),)* }
            }
        }
    };
}

violations! {
    /// A confirmed job has no end.
    Lost, "lost jobs" {
        /// The job.
        job: JobId,
        /// Where it was confirmed.
        confirmed: u64,
        /// Where it was last delivered; 0 for never.
        delivered: u64,
    } => "job {job} was confirmed (line {confirmed}), last delivered at line {delivered} (0: never), and is neither acked, dead, cancelled, handed over nor in the inventory";
    /// A job was delivered that nobody published.
    Invented, "invented jobs" {
        /// The job.
        job: JobId,
        /// Where it appeared.
        line: u64,
    } => "job {job} appears (line {line}), and nobody published it";
    /// A handler got something else than what was published.
    Altered, "altered jobs" {
        /// The job.
        job: JobId,
        /// Where its publish was asked for.
        published: u64,
        /// Where a handler got it.
        line: u64,
    } => "job {job} was published (line {published}) with another content than its handler got (line {line})";
    /// A refused job was delivered.
    RefusedDelivered, "refused jobs that came" {
        /// The job.
        job: JobId,
        /// Where it was refused.
        refused: u64,
        /// Where it appeared.
        line: u64,
    } => "a publish was refused (line {refused}), and its content came as job {job} (line {line})";
    /// Two publishes got the same id.
    IdTwice, "ids given twice" {
        /// The job.
        job: JobId,
        /// Where the id was given first.
        first: u64,
        /// Where it was given again.
        line: u64,
    } => "the id {job} was given to two publishes (lines {first} and {line})";
    /// A job came once more, and nothing explains it.
    Duplicate, "unexplained duplicates" {
        /// The job.
        job: JobId,
        /// Where it came before.
        before: u64,
        /// Where it came once more, or was left at the end.
        line: u64,
    } => "job {job} came once more (line {line}; before that at line {before}) without a retry, a return, a replay, a kill, a lost ownership or a failed settle that explains it";
    /// Two deliveries of a job were open at once, and nothing explains it.
    TwoOpen, "two open deliveries" {
        /// The job.
        job: JobId,
        /// Where the first was delivered.
        first: u64,
        /// Where the second was delivered.
        line: u64,
    } => "job {job} was handed out (line {line}) while another delivery of it was open (line {first}), and that one was never lost";
    /// One event caused more duplicates than the run allows.
    TooManyDuplicates, "duplicates above the bound" {
        /// The line of the event.
        event: u64,
        /// How many duplicates it explains.
        found: u64,
        /// How many it may.
        bound: u64,
    } => "the fault at line {event} explains {found} duplicates, and the run allows {bound} for each";
    /// A job was acked more often than it exists.
    AckedTwice, "jobs acked twice" {
        /// The job.
        job: JobId,
        /// How many acks answered done.
        acks: u32,
        /// How many may.
        allowed: u32,
        /// The last ack.
        line: u64,
    } => "job {job} has {acks} acks that answered done (the last at line {line}), and may have {allowed}";
    /// A delivery was settled twice.
    SettledTwice, "deliveries settled twice" {
        /// The job.
        job: JobId,
        /// Where it was settled first.
        first: u64,
        /// Where it was settled again.
        line: u64,
    } => "a delivery of job {job} was settled (line {first}), and answered done once more (line {line})";
    /// A settle of a lost delivery answered done.
    DoneAfterLoss, "settles after a loss" {
        /// The job.
        job: JobId,
        /// Where it was lost.
        lost: u64,
        /// Where it answered done.
        line: u64,
    } => "a delivery of job {job} was lost or given up (line {lost}), and a later settle answered done (line {line})";
    /// A delivery was settled that was never handed out.
    SettledUnknown, "settles of nothing" {
        /// The delivery's number.
        delivery: u64,
        /// Where it was settled.
        line: u64,
    } => "delivery {delivery} of this process was settled (line {line}) and never handed out";
    /// An ack was asked for before the handler had ended.
    EarlyAck, "early acks" {
        /// The job.
        job: JobId,
        /// Where it was delivered.
        delivered: u64,
        /// Where the ack was asked for.
        line: u64,
    } => "job {job}, delivered at line {delivered}, was acked (line {line}) before its handler had ended";
    /// An ack was asked for though the handler had not ended well.
    AckOfFailure, "acks of failed attempts" {
        /// The job.
        job: JobId,
        /// How the handler ended.
        how: End,
        /// Where the ack was asked for.
        line: u64,
    } => "job {job} was acked (line {line}) after a handler that ended with: {how}";
    /// A handler ran without a delivery.
    RanWithoutDelivery, "runs without a delivery" {
        /// The job.
        job: JobId,
        /// The attempt.
        attempt: u32,
        /// Where the handler started.
        line: u64,
    } => "a handler started attempt {attempt} of job {job} (line {line}), and its process had no delivery for that";
    /// An attempt was lower than one before.
    AttemptFell, "attempts that fell" {
        /// The job.
        job: JobId,
        /// The attempt.
        attempt: u32,
        /// The least that it could be.
        least: u32,
        /// The delivery.
        line: u64,
    } => "job {job} came as attempt {attempt} (line {line}), and attempt {least} had been delivered before";
    /// A retry did not raise the attempt.
    AttemptKept, "retries that spent no attempt" {
        /// The job.
        job: JobId,
        /// The attempt.
        attempt: u32,
        /// The delivery.
        line: u64,
    } => "job {job} came as attempt {attempt} (line {line}) after that attempt had been retried";
    /// The first delivery was not attempt 1.
    FirstAttempt, "first attempts above 1" {
        /// The job.
        job: JobId,
        /// The attempt.
        attempt: u32,
        /// The delivery.
        line: u64,
    } => "job {job} came first as attempt {attempt} (line {line}), and no fault before that explains an earlier one";
    /// A fencing number did not grow.
    FenceFell, "fences that did not grow" {
        /// The job.
        job: JobId,
        /// The number.
        fence: u64,
        /// The one before.
        before: u64,
        /// The delivery.
        line: u64,
    } => "job {job} came with the fencing number {fence} (line {line}) after {before}";
    /// A job came before its time.
    EarlyDelivery, "early deliveries" {
        /// The job.
        job: JobId,
        /// Where the wait was asked for.
        asked: u64,
        /// How many milliseconds too early.
        early_ms: u64,
        /// The delivery.
        line: u64,
    } => "job {job} came {early_ms} ms (line {line}) before the time that was asked for (line {asked})";
    /// Two jobs came in the wrong order.
    Swapped, "swapped orders" {
        /// The job that came late.
        job: JobId,
        /// Where it came.
        line: u64,
        /// The job that came before it.
        other: JobId,
        /// Where that was published.
        other_published: u64,
    } => "job {job} came (line {line}) after job {other}, which was published later (line {other_published})";
    /// A process ended in order with something open.
    LeftOpen, "left open at an end in order" {
        /// How many publishes had no answer.
        publishes: u64,
        /// How many deliveries had no end.
        deliveries: u64,
        /// The end.
        line: u64,
    } => "a process ended in order (line {line}) with {publishes} publishes without an answer and {deliveries} deliveries without a verdict";
}
