//! The metadata of a message as names and bytes, the same on every broker: for whoever writes a backend.
//!
//! The codec's bytes are the whole body. Redis writes the pairs as fields of an entry, Kafka as record headers, AMQP as headers but for the id, the content type and the priority,
//! which have properties of their own. A copy never starts from [`Meta`]: it takes the original's pairs and overrides some,
//! so that what another producer wrote survives a retry.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use tokio::time::Instant;

use crate::codec::Codec;
use crate::{Capabilities, Clock, Entry, Extra, Headers, JobId, Meta, Refusal, Undecodable, Verdict};

/// Format version of these names: 1. Absent in a message of another program.
pub const VERSION: &str = "jobqueue-v";
/// The id of the job, 16 hexadecimal digits.
pub const ID: &str = "jobqueue-id";
/// Attempts spent before this copy was written, decimal. Absent: 0.
pub const ATTEMPTS: &str = "jobqueue-attempts";
/// When the job was first published, in milliseconds since the epoch.
pub const ENQUEUED_MS: &str = "jobqueue-enqueued-ms";
/// Not before this time, in milliseconds since the epoch.
pub const DUE_MS: &str = "jobqueue-due-ms";
/// No attempt after this time, in milliseconds since the epoch.
pub const DEADLINE_MS: &str = "jobqueue-deadline-ms";
/// Higher first; absent: 0, the lowest.
pub const PRIORITY: &str = "jobqueue-priority";
/// The kind of a [`Routed`](crate::Routed) job.
pub const KIND: &str = "jobqueue-type";
/// Of a dead letter: the rule that ended the job, as [`Reason::as_str`](crate::Reason::as_str) writes it.
pub const REASON: &str = "jobqueue-reason";
/// Of a dead letter: the last error, at most 1 KiB of it.
pub const ERROR: &str = "jobqueue-error";
/// Of a dead letter: the queue that it comes from.
pub const ORIGIN: &str = "jobqueue-origin";
/// The media type of the body.
pub const CONTENT_TYPE: &str = "content-type";

/// The most that a dead letter says of its error, in bytes.
const ERROR_BYTES: usize = 1024;

/// Names and values, in the order in which they travel.
pub type Pairs = Vec<(Box<str>, Bytes)>;

/// Milliseconds since the epoch, by this host's clock.
#[must_use]
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The body and the pairs of an open entry, or why it cannot be sent.
///
/// # Errors
/// The job asks for what the worker cannot do, has no form in the codec, or is too large. Nothing was sent.
pub fn encode<J, C: Codec<J>>(
    codec: &C,
    entry: &Entry<J>,
    id: JobId,
    can: &Capabilities,
) -> Result<(Vec<u8>, Pairs), Refusal> {
    let Some(job) = entry.job() else { return Err(Refusal::Closed) };
    if let Some(feature) = entry.extra().and_then(|extra| can.refuses(extra)) {
        return Err(Refusal::Unsupported(feature));
    }
    let mut body = Vec::new();
    codec.encode(job, &mut body).map_err(|error| Refusal::Unencodable(error.0))?;
    if let Some(limit) = can.max_body.filter(|limit| body.len() > *limit) {
        return Err(Refusal::TooLarge { limit });
    }
    Ok((body, outgoing(id, entry.extra(), codec.content_type(job), codec.kind(job))))
}

/// The pairs of a job's first publish.
fn outgoing(id: JobId, extra: Option<&Extra>, content_type: &str, kind: Option<&str>) -> Pairs {
    let mut pairs: Pairs = Vec::with_capacity(6);
    let mut put = |name: &str, value: Bytes| pairs.push((name.into(), value));
    put(VERSION, Bytes::from_static(b"1"));
    put(ID, text(id));
    put(ENQUEUED_MS, text(now_ms()));
    put(CONTENT_TYPE, Bytes::copy_from_slice(content_type.as_bytes()));
    if let Some(kind) = kind {
        put(KIND, Bytes::copy_from_slice(kind.as_bytes()));
    }
    let Some(extra) = extra else { return pairs };
    if let Some(deadline) = extra.deadline {
        let left = deadline.saturating_duration_since(Instant::now());
        put(DEADLINE_MS, text(now_ms() + u64::try_from(left.as_millis()).unwrap_or(u64::MAX / 2)));
    }
    for (name, value) in extra.headers.iter().filter(|(name, _)| !name.starts_with("jobqueue-")) {
        put(name, value.clone());
    }
    pairs
}

/// What a message says of itself.
///
/// ```
/// use bytes::Bytes;
/// use queue_core::wire::{ATTEMPTS, Head};
/// let head = Head::read([(ATTEMPTS, Bytes::from_static(b"2")), ("tenant", Bytes::from_static(b"north"))]);
/// assert_eq!((head.attempts, head.headers.get("tenant")), (2, Some(&b"north"[..])));
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Head {
    /// Why it cannot be read, where its format version is not ours.
    pub broken: Option<Undecodable>,
    /// Our id, where it has one.
    pub id: Option<JobId>,
    /// Attempts spent before this copy was written.
    pub attempts: u32,
    /// When the job was first published, in milliseconds since the epoch.
    pub enqueued_ms: Option<u64>,
    /// No attempt after this time, in milliseconds since the epoch.
    pub deadline_ms: Option<u64>,
    /// Higher first.
    pub priority: u8,
    /// The media type of the body.
    pub content_type: Option<Arc<str>>,
    /// The kind of a [`Routed`](crate::Routed) job.
    pub kind: Option<Box<str>>,
    /// The broker's name for a message without an id of ours.
    pub source: Option<Box<str>>,
    /// The user's headers.
    pub headers: Headers,
}

impl Head {
    /// Reads the pairs of a message. An unreadable value of ours counts as absent, except attempts: a count is never too low.
    #[must_use]
    pub fn read<'a>(pairs: impl IntoIterator<Item = (&'a str, Bytes)>) -> Self {
        let mut head = Self::default();
        for (name, value) in pairs {
            match name {
                VERSION => head.broken = newer(&value),
                ID => head.set_id(&String::from_utf8_lossy(&value)),
                ATTEMPTS => {
                    head.attempts = number(&value).map_or(u32::MAX - 1, |n| u32::try_from(n).unwrap_or(u32::MAX - 1))
                }
                ENQUEUED_MS => head.enqueued_ms = number(&value),
                DEADLINE_MS => head.deadline_ms = number(&value),
                PRIORITY => head.priority = number(&value).and_then(|n| u8::try_from(n).ok()).unwrap_or(0),
                CONTENT_TYPE => head.content_type = std::str::from_utf8(&value).ok().map(Into::into),
                KIND => head.kind = std::str::from_utf8(&value).ok().map(Into::into),
                _ if name.starts_with("jobqueue-") => {}
                _ => drop(head.headers.set(name, value)),
            }
        }
        head
    }

    /// Takes `id` for ours, or for another producer's name of the message.
    pub fn set_id(&mut self, id: &str) {
        match u64::from_str_radix(id, 16) {
            Ok(number) if id.len() == 16 => self.id = Some(JobId::from(number)),
            _ => self.source = Some(id.into()),
        }
    }

    /// Ours, or a number that the broker's own name always gives.
    #[must_use]
    pub fn job_id(&self) -> JobId {
        self.id.unwrap_or_else(|| JobId::of_name(self.source.as_deref().unwrap_or_default()))
    }

    /// The metadata of one delivery: `redeliveries` is the broker's count for this copy.
    pub fn meta(&mut self, clock: &Clock, redeliveries: u32) -> Meta {
        let now = now_ms();
        let mut meta = Meta {
            id: self.job_id(),
            attempt: self.attempts.saturating_add(redeliveries).saturating_add(1),
            enqueued: clock.stamp_of_age(Duration::from_millis(now.saturating_sub(self.enqueued_ms.unwrap_or(now)))),
            extra: None,
        };
        let plain = self.headers.is_empty() && self.deadline_ms.is_none() && self.source.is_none();
        if !plain || redeliveries > 0 || self.priority > 0 {
            let due = |ms: u64| Instant::now() + Duration::from_millis(ms.saturating_sub(now));
            meta.extra = Some(Box::new(Extra {
                headers: std::mem::take(&mut self.headers),
                priority: self.priority,
                source: self.source.take(),
                redeliveries,
                deadline: self.deadline_ms.map(due),
                ..Extra::default()
            }));
        }
        meta
    }
}

/// What a copy of a delivery says otherwise than the original; none for an acknowledgement, which makes no copy.
///
/// The id is always among them: the copy of a message that came without one keeps the number that its first delivery got.
#[must_use]
pub fn overrides(meta: &Meta, verdict: &Verdict, enqueued_ms: Option<u64>, origin: &str) -> Option<Pairs> {
    let mut pairs: Pairs = Vec::with_capacity(6);
    let mut put = |name: &str, value: Bytes| pairs.push((name.into(), value));
    let spent = match verdict {
        Verdict::Ack => return None,
        Verdict::Retry { .. } | Verdict::Dead { .. } => meta.attempt,
        Verdict::Return { .. } => meta.attempt.saturating_sub(1),
    };
    put(ID, text(meta.id));
    put(ATTEMPTS, text(spent));
    if let Some(ms) = enqueued_ms {
        put(ENQUEUED_MS, text(ms));
    }
    match verdict {
        Verdict::Dead { cause } => {
            put(REASON, Bytes::from_static(cause.reason.as_str().as_bytes()));
            put(ERROR, Bytes::copy_from_slice(cut(&cause.error).as_bytes()));
            put(ORIGIN, Bytes::copy_from_slice(origin.as_bytes()));
        }
        Verdict::Ack | Verdict::Retry { .. } | Verdict::Return { .. } => {}
    }
    Some(pairs)
}

/// The first of `classes` (ascending) that is not shorter than `after`: a wait is never cut short.
#[must_use]
pub fn class(classes: &[Duration], after: Duration) -> Option<Duration> {
    classes.iter().copied().find(|class| *class >= after)
}

/// Version 1 is all there is: whatever else a message claims to be is not read by guess.
fn newer(version: &[u8]) -> Option<Undecodable> {
    if number(version) == Some(1) {
        return None;
    }
    let found = number(version).map_or_else(|| "that is no number".to_owned(), |number| number.to_string());
    Some(Undecodable(format!("format version {found}: this build reads version 1, so update it").into()))
}

fn text(value: impl std::fmt::Display) -> Bytes {
    value.to_string().into()
}

/// A decimal number, where the bytes are one.
#[must_use]
pub fn number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// At most [`ERROR_BYTES`], at the border of a character.
fn cut(error: &str) -> &str {
    let end = (0..=ERROR_BYTES.min(error.len())).rev().find(|at| error.is_char_boundary(*at)).unwrap_or(0);
    error.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cause, Reason};

    fn borrowed(pairs: &Pairs) -> impl Iterator<Item = (&str, Bytes)> {
        pairs.iter().map(|(name, value)| (&**name, value.clone()))
    }

    #[tokio::test]
    async fn headers_come_back_as_they_went() {
        let mut extra = Extra::default();
        extra.headers.set("tenant", "north");
        extra.headers.set("raw", vec![0xff, 0x00]);
        extra.headers.set("jobqueue-attempts", "99");
        extra.deadline = Some(Instant::now() + Duration::from_secs(60));
        let pairs = outgoing(JobId::from(255), Some(&extra), "application/json", Some("email"));
        let mut head = Head::read(borrowed(&pairs));
        assert_eq!((head.content_type.as_deref(), head.kind.as_deref()), (Some("application/json"), Some("email")));
        let meta = head.meta(&Clock::new(), 0);
        assert_eq!((meta.id, meta.attempt), (JobId::from(255), 1));
        let back = meta.extra.unwrap();
        assert_eq!(
            (back.headers.get("tenant"), back.headers.get("raw")),
            (Some(&b"north"[..]), Some(&[0xff, 0x00][..]))
        );
        assert_eq!(back.headers.len(), 2);
        let left = back.deadline.unwrap() - Instant::now();
        assert!(left > Duration::from_secs(58) && left <= Duration::from_secs(61), "{left:?}");
    }

    #[test]
    fn a_plain_job_needs_no_extra() {
        let pairs = outgoing(JobId::from(1), None, "application/json", None);
        assert!(Head::read(borrowed(&pairs)).meta(&Clock::new(), 0).extra.is_none());
    }

    #[test]
    fn attempts_add_up_and_are_never_too_low() {
        let read = |value: &'static str| Head::read([(ATTEMPTS, Bytes::from(value))]).meta(&Clock::new(), 2).attempt;
        assert_eq!(read("3"), 6);
        assert_eq!(read("many"), u32::MAX);
    }

    #[test]
    fn a_newer_format_is_not_read_by_guess() {
        let read =
            |version: &'static str| Head::read([(VERSION, Bytes::from(version))]).broken.map(|why| why.to_string());
        assert_eq!(read("1"), None);
        assert!(read("2").unwrap().contains("format version 2"));
        assert!(read("one").unwrap().contains("no number"));
        assert!(Head::read([("other", Bytes::new())]).broken.is_none());
    }

    #[test]
    fn a_foreign_message_keeps_its_number_through_a_copy() {
        let mut first = Head::default();
        first.set_id("550e8400-e29b-41d4-a716-446655440000");
        let meta = first.meta(&Clock::new(), 0);
        assert_eq!(meta.extra.as_ref().unwrap().source.as_deref(), Some("550e8400-e29b-41d4-a716-446655440000"));
        let copy = overrides(&meta, &Verdict::Retry { after: Duration::ZERO }, None, "q").unwrap();
        let again = Head::read(borrowed(&copy)).meta(&Clock::new(), 0);
        assert_eq!((again.id, again.attempt), (meta.id, 2));
    }

    #[test]
    fn each_verdict_spends_what_it_should() {
        let meta = Meta { attempt: 3, ..Meta::default() };
        let spent =
            |verdict: &Verdict| overrides(&meta, verdict, None, "q").map(|pairs| Head::read(borrowed(&pairs)).attempts);
        let cause = Box::new(Cause { reason: Reason::Permanent, error: "x".into() });
        assert_eq!(spent(&Verdict::Ack), None);
        assert_eq!(spent(&Verdict::Retry { after: Duration::ZERO }), Some(3));
        assert_eq!(spent(&Verdict::Return { after: Duration::ZERO }), Some(2));
        assert_eq!(spent(&Verdict::Dead { cause }), Some(3));
    }

    #[test]
    fn an_error_is_cut_at_a_character() {
        let long = "a".to_owned() + &"é".repeat(600);
        assert_eq!(cut(&long).len(), 1023);
        assert_eq!(cut("short"), "short");
    }

    #[test]
    fn a_wait_is_never_cut_short() {
        let classes = [1, 5, 30].map(Duration::from_secs);
        assert_eq!(class(&classes, Duration::from_millis(1001)), Some(Duration::from_secs(5)));
        assert_eq!(class(&classes, Duration::from_secs(30)), Some(Duration::from_secs(30)));
        assert_eq!(class(&classes, Duration::from_secs(31)), None);
    }
}
