//! The blocking connection, and what comes from it.

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use queue_core::{Event, EventLog};
use redis::aio::{ConnectionManager, MultiplexedConnection};
use redis::{RedisResult, Value};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::{BODY, GROUP};
use queue_core::wire::Head;

/// How long one read waits at the server.
pub(super) const BLOCK: Duration = Duration::from_secs(2);

/// What the reader may fetch: its requests, what is held for them, and what the engine allows beyond.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Want {
    pub(super) slots: usize,
    pub(super) ahead: usize,
    pub(super) open: usize,
    pub(super) held: usize,
}

impl Want {
    const fn room(&self) -> usize {
        if self.slots == 0 { 0 } else { (self.open + self.ahead).saturating_sub(self.held) }
    }
}

/// An open request: its drop takes the wish back.
pub(super) struct Open<'a>(&'a watch::Sender<Want>, usize);

impl<'a> Open<'a> {
    pub(super) fn new(want: &'a watch::Sender<Want>, max: usize) -> Self {
        want.send_modify(|want| want.open += max);
        Self(want, max)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|want| want.open -= self.1);
    }
}

/// An entry of the stream.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) id: Box<str>,
    pub(super) body: Bytes,
    pub(super) head: Head,
}

/// Owns the blocking connection.
pub(super) struct Reader {
    pub(super) connection: MultiplexedConnection,
    pub(super) command: ConnectionManager,
    pub(super) want: watch::Sender<Want>,
    pub(super) feed: mpsc::UnboundedSender<Raw>,
    pub(super) closed: CancellationToken,
    pub(super) stream: String,
    pub(super) consumer: String,
    pub(super) events: EventLog,
}

impl Reader {
    pub(super) async fn run(mut self) {
        if let Err(error) = self.read().await {
            self.events.note(Event::Disconnected(error.to_string().into()));
        }
    }

    async fn read(&mut self) -> RedisResult<()> {
        let id: i64 = redis::cmd("CLIENT").arg("ID").query_async(&mut self.connection).await?;
        let mut wanted = self.want.subscribe();
        loop {
            let room = tokio::select! {
                biased;
                () = self.closed.cancelled() => return Ok(()),
                want = wanted.wait_for(|want| want.room() > 0) => match want {
                    Ok(want) => want.room(),
                    Err(_) => return Ok(()),
                },
            };
            let mut read = redis::cmd("XREADGROUP");
            read.arg("GROUP").arg(GROUP).arg(&self.consumer).arg("COUNT").arg(room);
            read.arg("BLOCK").arg(BLOCK.as_millis().to_string()).arg("STREAMS").arg(&self.stream).arg(">");
            let mut reply = pin!(read.query_async::<Value>(&mut self.connection));
            // Dropping the reply would leave the next entry with us, seen by nobody: it is ended at the server, and awaited.
            let reply = tokio::select! {
                biased;
                reply = &mut reply => reply?,
                () = self.closed.cancelled() => {
                    redis::cmd("CLIENT").arg("UNBLOCK").arg(id).query_async::<Value>(&mut self.command).await?;
                    reply.await?
                }
            };
            self.events.note(Event::Fetched);
            for raw in entries(reply) {
                self.want.send_modify(|want| want.held += 1);
                // The inbox lives as long as the worker; what cannot be fed stays pending for a take-over.
                if self.feed.send(raw).is_err() {
                    return Ok(());
                }
            }
        }
    }
}

/// The entries of a reply, by value: the client's typed reply would copy each body.
fn entries(reply: Value) -> Vec<Raw> {
    let streams = match reply {
        Value::Array(streams) => streams.into_iter().filter_map(pair).map(|(_, entries)| entries).collect(),
        Value::Map(streams) => streams.into_iter().map(|(_, entries)| entries).collect(),
        _ => Vec::new(),
    };
    streams.into_iter().flat_map(array).filter_map(pair).filter_map(|(id, fields)| raw(id, fields)).collect()
}

fn raw(id: Value, fields: Value) -> Option<Raw> {
    let id = String::from_utf8(bytes(id)?.into()).ok()?;
    let (mut body, mut pairs, mut fields) = (None, Vec::new(), array(fields).into_iter());
    while let (Some(name), Some(value)) = (fields.next().and_then(bytes), fields.next().and_then(bytes)) {
        match std::str::from_utf8(&name) {
            Ok(BODY) if body.is_none() => body = Some(value),
            Ok(name) => pairs.push((name.to_owned(), value)),
            Err(_) => {}
        }
    }
    let mut head = Head::read(pairs.iter().map(|(name, value)| (name.as_str(), value.clone())));
    if head.id.is_none() && head.source.is_none() {
        head.source = Some(id.as_str().into());
    }
    head.enqueued_ms = head.enqueued_ms.or_else(|| id.split('-').next().and_then(|ms| ms.parse().ok()));
    Some(Raw { id: id.into(), body: body.unwrap_or_default(), head })
}

fn array(value: Value) -> Vec<Value> {
    if let Value::Array(values) = value { values } else { Vec::new() }
}

fn pair(value: Value) -> Option<(Value, Value)> {
    let mut values = array(value).into_iter();
    Some((values.next()?, values.next()?))
}

pub(super) fn bytes(value: Value) -> Option<Bytes> {
    match value {
        Value::BulkString(bytes) => Some(bytes.into()),
        Value::SimpleString(text) => Some(text.into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use queue_core::Clock;

    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    #[test]
    fn an_entry_is_read_by_value_and_a_foreign_one_gets_a_name() {
        let fields = Value::Array(["b", "{}", "jobqueue-attempts", "2", "tenant", "north"].map(bulk).to_vec());
        let entry = Value::Array(vec![bulk("1700000000000-3"), fields]);
        let reply = Value::Array(vec![Value::Array(vec![bulk("jobqueue:{q}:s"), Value::Array(vec![entry])])]);
        let mut raw = entries(reply).pop().unwrap();
        assert_eq!(
            (&*raw.id, &raw.body[..], raw.head.enqueued_ms),
            ("1700000000000-3", &b"{}"[..], Some(1_700_000_000_000))
        );
        let meta = raw.head.meta(&Clock::new(), 0);
        let extra = meta.extra.unwrap();
        assert_eq!((meta.attempt, extra.source.as_deref()), (3, Some("1700000000000-3")));
        assert_eq!(extra.headers.get("tenant"), Some(&b"north"[..]));
        assert!(entries(Value::Nil).is_empty());
    }

    #[test]
    fn no_more_is_fetched_than_could_start_now() {
        let mut want = Want { slots: 4, ahead: 0, open: 3, held: 1 };
        assert_eq!(want.room(), 2);
        want.held = 5;
        assert_eq!(want.room(), 0);
        assert_eq!(Want { slots: 0, ahead: 9, open: 9, held: 0 }.room(), 0);
    }

    #[test]
    fn a_dropped_request_takes_its_wish_back() {
        let want = watch::Sender::<Want>::default();
        let open = Open::new(&want, 3);
        assert_eq!(want.borrow().open, 3);
        drop(open);
        assert_eq!(want.borrow().open, 0);
    }
}
