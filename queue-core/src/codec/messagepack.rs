//! MessagePack.

use std::borrow::Cow;

use rmp_serde::decode::Error;
use rmp_serde::{Deserializer, Serializer, encode};
use serde::de::DeserializeSeed;
use serde::{Deserialize, Serialize};

use super::format::{Format, Wrong, codec};

codec! {
    /// MessagePack with named fields: more compact than JSON, with a reader in most languages.
    ///
    /// ```
    /// use queue_core::codec::{Codec, MessagePack, Wire};
    /// let (job, mut body) = (("welcome".to_owned(), 7), Vec::new());
    /// MessagePack::new().encode(&job, &mut body)?;
    /// assert_eq!(body, b"\x92\xa7welcome\x07");
    ///
    /// let message = Wire { body: &body.into(), content_type: Some("application/msgpack"), kind: None };
    /// let read: (String, i32) = MessagePack::new().decode(message)?;
    /// assert_eq!(read, job);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A struct is a map from names to values, so that other languages find their way and fields can be added; a struct that
    /// came as an array, without names, is read too. The content type is `application/msgpack`, the name in common use, which
    /// is not a registered one; `application/x-msgpack` and `application/vnd.msgpack` are read as the same.
    /// `Some(None)` and `Some(())` come back as `None`.
    MessagePack
}

impl Format for MessagePack {
    const TYPE: &'static str = "application/msgpack";
    const ALIASES: &'static [&'static str] = &["application/x-msgpack", "application/vnd.msgpack"];

    fn write<J: Serialize>(job: &J, body: &mut Vec<u8>) -> Result<(), Cow<'static, str>> {
        job.serialize(&mut Serializer::new(body).with_struct_map()).map_err(|error| match error {
            encode::Error::UnknownLength => "a sequence or map does not know its length".into(),
            _ => "the job refuses to be written".into(),
        })
    }

    fn read<'de, S: DeserializeSeed<'de>>(seed: S, body: &'de [u8]) -> Result<S::Value, Wrong> {
        let mut msgpack = Deserializer::from_read_ref(body);
        // The guard counts every level, the crate only some; and the crate's count drifts when a type ignores an error.
        msgpack.set_max_depth(usize::MAX);
        let job = seed.deserialize(&mut msgpack).map_err(|error| wrong(&error))?;
        // The crate does not say how far it read, but a further value begins with a marker, and there must be none.
        match <()>::deserialize(&mut msgpack) {
            Err(Error::InvalidMarkerRead(_)) => Ok(job),
            _ => Err(Wrong::LONG),
        }
    }
}

/// Most of the crate's errors show a number or marker of the body.
const fn wrong(error: &Error) -> Wrong {
    match error {
        Error::InvalidMarkerRead(_) | Error::InvalidDataRead(_) => Wrong::SHORT,
        Error::Utf8Error(_) => Wrong::NO_TEXT,
        Error::Syntax(_) => Wrong::Job(None),
        _ => Wrong::MALFORMED,
    }
}
