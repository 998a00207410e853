//! The metadata of a message as names and bytes, the same on every broker.
//!
//! Redis writes the pairs as fields of an entry, Kafka as record headers, AMQP as headers but for the id, the content type and the priority,
//! which have properties of their own. A copy never starts from [`Meta`]: it takes the original's pairs and overrides some,
//! so that what another producer wrote survives a retry.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use queue_core::codec::Codec;
use queue_core::{Capabilities, Clock, Entry, Extra, Headers, JobId, Meta, Refusal, Verdict};
use tokio::time::Instant;

pub(super) const VERSION: &str = "jobqueue-v";
pub(super) const ID: &str = "jobqueue-id";
pub(super) const ATTEMPTS: &str = "jobqueue-attempts";
pub(super) const ENQUEUED_MS: &str = "jobqueue-enqueued-ms";
pub(super) const DUE_MS: &str = "jobqueue-due-ms";
pub(super) const DEADLINE_MS: &str = "jobqueue-deadline-ms";
pub(super) const PRIORITY: &str = "jobqueue-priority";
pub(super) const KIND: &str = "jobqueue-type";
pub(super) const REASON: &str = "jobqueue-reason";
pub(super) const ERROR: &str = "jobqueue-error";
pub(super) const ORIGIN: &str = "jobqueue-origin";
pub(super) const CONTENT_TYPE: &str = "content-type";

/// The most that a dead letter says of its error, in bytes.
const ERROR_BYTES: usize = 1024;

/// Names and values, in the order in which they travel.
pub(super) type Pairs = Vec<(Box<str>, Bytes)>;

/// Milliseconds since the epoch, by this host's clock.
pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The body and the pairs of an open entry, or why it cannot be sent.
pub(super) fn encode<J, C: Codec<J>>(
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
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) id: Option<JobId>,
    /// Attempts spent before this copy was written.
    pub(super) attempts: u32,
    pub(super) enqueued_ms: Option<u64>,
    pub(super) deadline_ms: Option<u64>,
    pub(super) priority: u8,
    pub(super) content_type: Option<Arc<str>>,
    pub(super) kind: Option<Box<str>>,
    /// The broker's name for a message without an id of ours.
    pub(super) source: Option<Box<str>>,
    pub(super) headers: Headers,
}

impl Head {
    /// Reads the pairs of a message. An unreadable value of ours counts as absent, except attempts: a count is never too low.
    pub(super) fn read<'a>(pairs: impl IntoIterator<Item = (&'a str, Bytes)>) -> Self {
        let mut head = Self::default();
        for (name, value) in pairs {
            match name {
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
    pub(super) fn set_id(&mut self, id: &str) {
        match u64::from_str_radix(id, 16) {
            Ok(number) if id.len() == 16 => self.id = Some(JobId::from(number)),
            _ => self.source = Some(id.into()),
        }
    }

    /// Ours, or a number that the broker's own name always gives.
    pub(super) fn job_id(&self) -> JobId {
        self.id.unwrap_or_else(|| JobId::of_name(self.source.as_deref().unwrap_or_default()))
    }

    /// The metadata of one delivery: `redeliveries` is the broker's count for this copy.
    pub(super) fn meta(&mut self, clock: &Clock, redeliveries: u32) -> Meta {
        let now = now_ms();
        let mut meta = Meta {
            id: self.job_id(),
            attempt: self.attempts.saturating_add(redeliveries).saturating_add(1),
            enqueued: clock.stamp_of_age(Duration::from_millis(now.saturating_sub(self.enqueued_ms.unwrap_or(now)))),
            extra: None,
        };
        let plain = self.headers.is_empty() && self.deadline_ms.is_none() && self.source.is_none();
        if !plain || redeliveries > 0 || self.priority > 0 {
            let mut extra = Extra::default();
            extra.headers = std::mem::take(&mut self.headers);
            extra.priority = self.priority;
            extra.source = self.source.take();
            extra.redeliveries = redeliveries;
            extra.deadline = self.deadline_ms.map(|ms| Instant::now() + Duration::from_millis(ms.saturating_sub(now)));
            meta.extra = Some(Box::new(extra));
        }
        meta
    }
}

/// What a copy of a delivery says otherwise than the original; none for an acknowledgement, which makes no copy.
///
/// The id is always among them: the copy of a message that came without one keeps the number that its first delivery got.
pub(super) fn overrides(meta: &Meta, verdict: &Verdict, enqueued_ms: Option<u64>, origin: &str) -> Option<Pairs> {
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
pub(super) fn class(classes: &[Duration], after: Duration) -> Option<Duration> {
    classes.iter().copied().find(|class| *class >= after)
}

fn text(value: impl std::fmt::Display) -> Bytes {
    value.to_string().into()
}

pub(super) fn number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// At most [`ERROR_BYTES`], at the border of a character.
fn cut(error: &str) -> &str {
    let end = (0..=ERROR_BYTES.min(error.len())).rev().find(|at| error.is_char_boundary(*at)).unwrap_or(0);
    error.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use queue_core::{Cause, Reason};

    use super::*;

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
