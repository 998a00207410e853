//! The script that settles: its arguments, its answers, and what its errors mean.

use queue_core::{Settled, Settling, Unsettled, Verdict, WorkerError};
use redis::{ErrorKind, RedisError, Value};

use super::StreamReceipt;
use super::reader::bytes;
use queue_core::wire;

/// The operations of a batch, in order, as the script reads them.
pub(super) fn operations<P>(batch: &[Settling<P, StreamReceipt>], origin: &str, put: &mut impl FnMut(&[u8])) -> usize {
    let mut asked = 0;
    for (unsettled, verdict) in batch.iter().filter_map(Settling::asked) {
        asked += 1;
        let Unsettled { meta, receipt, .. } = unsettled;
        let (code, wait) = match verdict {
            Verdict::Ack => ("a", None),
            Verdict::Retry { after } | Verdict::Return { after } => ("r", Some(*after)),
            Verdict::Dead { .. } => ("d", None),
        };
        put(code.as_bytes());
        put(receipt.id.as_bytes());
        let Some(pairs) = wire::overrides(meta, verdict, receipt.enqueued_ms, origin) else { continue };
        if let Some(wait) = wait {
            // Rounded up: a wait is never cut short. The token names job and entry, since two foreign jobs may share an id.
            put(wait.as_nanos().div_ceil(1_000_000).to_string().as_bytes());
            put(format!("{}:{}", meta.id, receipt.id).as_bytes());
        }
        put(pairs.len().to_string().as_bytes());
        for (name, value) in &pairs {
            put(name.as_bytes());
            put(value);
        }
    }
    asked
}

/// What the script says of one operation.
pub(super) fn settled(answer: Value) -> Result<Settled, WorkerError> {
    match answer {
        Value::Int(0) => Ok(Settled::Done),
        // 3: somebody deleted the entry; there is nothing left to own.
        Value::Int(1..=3) => Ok(Settled::LostOwnership),
        other => {
            let text = bytes(other).map(|text| String::from_utf8_lossy(&text).into_owned());
            Err(WorkerError::retry(format!("redis kept a delivery: {}", text.as_deref().unwrap_or("unknown answer"))))
        }
    }
}

/// What can be done about a client's error.
pub(super) fn failure(doing: &str, error: RedisError) -> WorkerError {
    let message = format!("redis could not {doing}: {error}");
    let reconnect = matches!(error.code(), Some("NOGROUP" | "UNBLOCKED" | "READONLY" | "LOADING" | "MASTERDOWN"));
    let fatal = matches!(error.code(), Some("NOAUTH" | "WRONGPASS" | "NOPERM" | "WRONGTYPE"))
        || matches!(error.kind(), ErrorKind::AuthenticationFailed | ErrorKind::InvalidClientConfig);
    let class = if fatal {
        WorkerError::fatal(message)
    } else if reconnect || error.is_io_error() || error.is_timeout() || error.kind() == ErrorKind::Parse {
        WorkerError::reconnect(message)
    } else {
        WorkerError::retry(message)
    };
    class.with_source(error)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use queue_core::{Cause, ErrorClass, JobId, Meta, Ownership, Reason};

    use super::*;

    fn asked(id: &str, verdict: Verdict) -> Settling<(), StreamReceipt> {
        let meta = Meta { id: JobId::from(7), attempt: 2, ..Meta::default() };
        let receipt = StreamReceipt { id: id.into(), enqueued_ms: None, ownership: Ownership::new() };
        Settling::new(Unsettled { meta, payload: None, receipt }, verdict)
    }

    fn layout(batch: &[Settling<(), StreamReceipt>]) -> (usize, String) {
        let mut words = Vec::new();
        let asked = operations(batch, "q", &mut |word| words.push(String::from_utf8_lossy(word).into_owned()));
        (asked, words.join(" "))
    }

    #[test]
    fn operations_stand_as_the_script_reads_them() {
        let id = "0000000000000007";
        let cause = Box::new(Cause { reason: Reason::Permanent, error: "no".into() });
        let mut batch = [
            asked("1-0", Verdict::Ack),
            asked("2-0", Verdict::Retry { after: Duration::from_micros(1500) }),
            asked("3-0", Verdict::Return { after: Duration::ZERO }),
            asked("4-0", Verdict::Dead { cause }),
            asked("5-0", Verdict::Ack),
        ];
        let expected = format!(
            "a 1-0 r 2-0 2 {id}:2-0 2 jobqueue-id {id} jobqueue-attempts 2 \
             r 3-0 0 {id}:3-0 2 jobqueue-id {id} jobqueue-attempts 1 \
             d 4-0 5 jobqueue-id {id} jobqueue-attempts 2 jobqueue-reason permanent error jobqueue-error no jobqueue-origin q a 5-0"
        );
        assert_eq!(layout(&batch), (5, expected));
        for settling in &mut batch {
            settling.answer(Settled::Done).unwrap();
        }
        assert_eq!(layout(&batch), (0, String::new()));
    }

    #[test]
    fn a_refused_operation_is_an_error_and_a_lost_one_an_answer() {
        assert_eq!(settled(Value::Int(0)).unwrap(), Settled::Done);
        for lost in 1..=3 {
            assert_eq!(settled(Value::Int(lost)).unwrap(), Settled::LostOwnership);
        }
        let error = settled(Value::BulkString(b"OOM command not allowed".to_vec())).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Retry);
        assert!(error.to_string().contains("OOM"));
    }

    #[test]
    fn errors_fall_into_their_class() {
        let class = |code: &str| failure("test", redis::make_extension_error(code.to_owned(), None)).class();
        for code in ["NOGROUP", "UNBLOCKED", "MASTERDOWN"] {
            assert_eq!(class(code), ErrorClass::Reconnect, "{code}");
        }
        assert_eq!(class("NOAUTH"), ErrorClass::Fatal);
        assert_eq!(class("OOM"), ErrorClass::Retry);
        let broken = RedisError::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!(failure("test", broken).class(), ErrorClass::Reconnect);
    }
}
