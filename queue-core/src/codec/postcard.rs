//! Postcard.

use std::borrow::Cow;

use postcard::Error;
use serde::Serialize;
use serde::de::DeserializeSeed;

use super::format::{Format, Wrong, codec};

codec! {
    /// Postcard: small and fast, for queues with a Rust program at both ends.
    ///
    /// ```
    /// use queue_core::codec::{Codec, Postcard, Wire};
    /// let (job, mut body) = (("welcome".to_owned(), 7), Vec::new());
    /// Postcard::new().encode(&job, &mut body)?;
    /// assert_eq!(body, b"\x07welcome\x0e");
    ///
    /// let message = Wire { body: &body.into(), content_type: Some("application/x-postcard"), kind: None };
    /// let read: (String, i32) = Postcard::new().decode(message)?;
    /// assert_eq!(read, job);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// The wire format is specified at <https://postcard.jamesmunns.com/wire-format>. The content type
    /// `application/x-postcard` is ours, not a registered one. The bytes do not describe themselves: both ends need the same
    /// type, field by field, and types that ask what comes next (`serde_json::Value`, `untagged`, `flatten`, internally tagged
    /// enums) cannot be read.
    Postcard
}

impl Format for Postcard {
    const TYPE: &'static str = "application/x-postcard";

    fn write<J: Serialize>(job: &J, body: &mut Vec<u8>) -> Result<(), Cow<'static, str>> {
        match postcard::to_io(job, body) {
            Ok(_body) => Ok(()),
            Err(Error::SerializeSeqLengthUnknown) => Err("a sequence or map does not know its length".into()),
            Err(_) => Err("the job refuses to be written".into()),
        }
    }

    fn read<'de, S: DeserializeSeed<'de>>(seed: S, body: &'de [u8]) -> Result<S::Value, Wrong> {
        let mut postcard = postcard::Deserializer::from_bytes(body);
        let job = seed.deserialize(&mut postcard).map_err(|error| wrong(&error))?;
        let rest = postcard.finalize().map_err(|error| wrong(&error))?;
        if rest.is_empty() { Ok(job) } else { Err(Wrong::LONG) }
    }
}

const fn wrong(error: &Error) -> Wrong {
    match error {
        Error::DeserializeUnexpectedEnd => Wrong::SHORT,
        Error::DeserializeBadUtf8 => Wrong::NO_TEXT,
        Error::WontImplement | Error::NotYetImplemented => Wrong::NO_ANY,
        Error::SerdeDeCustom => Wrong::Job(None),
        _ => Wrong::MALFORMED,
    }
}
