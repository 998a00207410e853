//! Properties and headers of an AMQP message, as the pairs of the wire form and back.

use bytes::Bytes;
use lapin::BasicProperties;
use lapin::types::{AMQPValue, FieldTable, LongString, ShortString};
use queue_core::Refusal;

use queue_core::wire::{self, Head, Pairs};

/// What the broker writes itself: a copy that kept it would inherit the history of another delivery.
const BROKERS: [&str; 5] =
    ["x-delivery-count", "x-death", "x-first-death-exchange", "x-first-death-queue", "x-first-death-reason"];

/// The properties of a persistent message: `base` without the broker's own headers, overridden by `pairs`.
///
/// # Errors
/// A name or an id is longer than the 255 bytes of a short string (the client's own conversion panics there).
pub(super) fn properties(base: &BasicProperties, pairs: Pairs) -> Result<BasicProperties, Refusal> {
    let mut made = base.clone().with_delivery_mode(2);
    let mut headers = base.headers().as_ref().map(|table| table.inner().clone()).unwrap_or_default();
    headers.retain(|name, _| !BROKERS.contains(&name.as_str()));
    for (name, value) in pairs {
        match &*name {
            wire::ID => made = made.with_message_id(short(&String::from_utf8_lossy(&value))?),
            wire::CONTENT_TYPE => made = made.with_content_type(short(&String::from_utf8_lossy(&value))?),
            _ => drop(headers.insert(short(&name)?, AMQPValue::LongString(LongString::from(value.to_vec())))),
        }
    }
    Ok(made.with_headers(FieldTable::from(headers)))
}

fn short(text: &str) -> Result<ShortString, Refusal> {
    ShortString::try_new(text).map_err(|_| Refusal::Unencodable("a header name or id is above 255 bytes".into()))
}

/// What a message says of itself, and the broker's count of its redeliveries.
///
/// The count is the quorum queue's header; a classic queue tells only that there was one.
pub(super) fn head(properties: &BasicProperties, redelivered: bool) -> (Head, u32) {
    let mut count = u32::from(redelivered);
    let table = properties.headers().as_ref().map(FieldTable::inner);
    let pairs = table.into_iter().flatten().filter_map(|(name, value)| Some((name.as_str(), bytes(value)?)));
    let pairs = pairs.filter(|(name, value)| match *name {
        "x-delivery-count" => {
            count = count.max(wire::number(value).and_then(|n| u32::try_from(n).ok()).unwrap_or(u32::MAX));
            false
        }
        name => !BROKERS.contains(&name),
    });
    let mut head = Head::read(pairs);
    if let Some(id) = properties.message_id() {
        head.set_id(id.as_str());
    }
    head.content_type = properties.content_type().as_ref().map(|text| text.as_str().into());
    head.priority = properties.priority().unwrap_or(0);
    head.enqueued_ms = head.enqueued_ms.or_else(|| properties.timestamp().map(|seconds| seconds.saturating_mul(1000)));
    (head, count)
}

/// A header's value as bytes; none for tables and arrays, which only a copy keeps.
fn bytes(value: &AMQPValue) -> Option<Bytes> {
    Some(match value {
        AMQPValue::LongString(text) => Bytes::copy_from_slice(text.as_bytes()),
        AMQPValue::ShortString(text) => Bytes::copy_from_slice(text.as_str().as_bytes()),
        AMQPValue::ByteArray(bytes) => Bytes::copy_from_slice(bytes.as_slice()),
        AMQPValue::Boolean(value) => value.to_string().into(),
        AMQPValue::ShortShortInt(n) => n.to_string().into(),
        AMQPValue::ShortShortUInt(n) => n.to_string().into(),
        AMQPValue::ShortInt(n) => n.to_string().into(),
        AMQPValue::ShortUInt(n) => n.to_string().into(),
        AMQPValue::LongInt(n) => n.to_string().into(),
        AMQPValue::LongUInt(n) => n.to_string().into(),
        AMQPValue::LongLongInt(n) => n.to_string().into(),
        AMQPValue::Timestamp(n) => n.to_string().into(),
        AMQPValue::Float(n) => n.to_string().into(),
        AMQPValue::Double(n) => n.to_string().into(),
        AMQPValue::DecimalValue(_) | AMQPValue::FieldArray(_) | AMQPValue::FieldTable(_) | AMQPValue::Void => {
            return None;
        }
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use queue_core::{Clock, Verdict};

    use super::*;

    fn table(properties: &BasicProperties) -> &std::collections::BTreeMap<ShortString, AMQPValue> {
        properties.headers().as_ref().unwrap().inner()
    }

    #[test]
    fn pairs_become_properties_and_headers_and_come_back() {
        let pairs = vec![
            (wire::ID.into(), Bytes::from("00000000000000ff")),
            (wire::CONTENT_TYPE.into(), Bytes::from("application/json")),
            (wire::ATTEMPTS.into(), Bytes::from("2")),
            ("raw".into(), Bytes::from(vec![0xff, 0x00])),
        ];
        let made = properties(&BasicProperties::default(), pairs).unwrap();
        assert_eq!(made.message_id().as_ref().map(ShortString::as_str), Some("00000000000000ff"));
        assert_eq!((made.delivery_mode(), table(&made).len()), (&Some(2), 2));
        let (mut head, count) = head(&made, false);
        assert_eq!((count, head.content_type.as_deref()), (0, Some("application/json")));
        let meta = head.meta(&Clock::new(), count);
        assert_eq!((meta.id.get(), meta.attempt), (255, 3));
        assert_eq!(meta.extra.unwrap().headers.get("raw"), Some(&[0xff, 0x00][..]));
    }

    #[test]
    fn a_copy_keeps_foreign_headers_and_drops_the_brokers() {
        let mut headers = FieldTable::default();
        headers.insert("x-delivery-count".into(), AMQPValue::LongLongInt(4));
        headers.insert("x-death".into(), AMQPValue::FieldArray(Vec::new().into()));
        headers.insert("table".into(), AMQPValue::FieldTable(FieldTable::default()));
        let foreign = BasicProperties::default().with_headers(headers).with_reply_to("answers".into());
        let (mut head, count) = head(&foreign, true);
        let meta = head.meta(&Clock::new(), count);
        assert_eq!((count, meta.attempt), (4, 5));
        let pairs = wire::overrides(&meta, &Verdict::Retry { after: Duration::ZERO }, None, "q").unwrap();
        let copy = properties(&foreign, pairs).unwrap();
        let names: Vec<_> = table(&copy).keys().map(ShortString::as_str).collect();
        assert_eq!(names, ["jobqueue-attempts", "table"]);
        assert_eq!(copy.reply_to().as_ref().map(ShortString::as_str), Some("answers"));
    }

    #[test]
    fn a_name_that_does_not_fit_is_refused() {
        let pairs = vec![("x".repeat(256).into(), Bytes::new())];
        assert!(matches!(properties(&BasicProperties::default(), pairs), Err(Refusal::Unencodable(_))));
    }
}
