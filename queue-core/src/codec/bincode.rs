//! Bincode 2.

use std::borrow::Cow;

use bincode::config::standard;
use bincode::error::{DecodeError, EncodeError};
use bincode::serde::{EncodeError as SerdeEncodeError, encode_into_std_write, seed_decode_from_slice};
use serde::Serialize;
use serde::de::DeserializeSeed;

use super::format::{Format, Wrong, codec};

codec! {
    /// Bincode 2 in its standard configuration: for queues whose other end already speaks it.
    ///
    /// Its crate is **no longer maintained**; 2.0.1 is the last usable release, and nobody will fix what is found in it.
    /// Choose it to share a queue with programs that use it already, else [`Postcard`](crate::codec::Postcard), which is as
    /// compact, specified and maintained.
    ///
    /// ```
    /// use queue_core::codec::{Bincode, Codec, Wire};
    /// let (job, mut body) = (("welcome".to_owned(), 7), Vec::new());
    /// Bincode::new().encode(&job, &mut body)?;
    /// assert_eq!(body, b"\x07welcome\x0e");
    ///
    /// let message = Wire { body: &body.into(), content_type: Some("application/x-bincode"), kind: None };
    /// let read: (String, i32) = Bincode::new().decode(message)?;
    /// assert_eq!(read, job);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Numbers are little endian and of variable length; bincode 1 wrote another form, which this codec does not read.
    /// The content type `application/x-bincode` is ours, not a registered one. The bytes do not describe themselves: both ends
    /// need the same type, field by field, and types that ask what comes next (`serde_json::Value`, `untagged`, `flatten`,
    /// internally tagged enums) cannot be read.
    Bincode
}

impl Format for Bincode {
    const TYPE: &'static str = "application/x-bincode";

    fn write<J: Serialize>(job: &J, body: &mut Vec<u8>) -> Result<(), Cow<'static, str>> {
        match encode_into_std_write(job, body, standard()) {
            Ok(_bytes) => Ok(()),
            Err(EncodeError::Serde(SerdeEncodeError::SequenceMustHaveLength)) => {
                Err("a sequence or map does not know its length".into())
            }
            Err(_) => Err("the job refuses to be written".into()),
        }
    }

    fn read<'de, S: DeserializeSeed<'de>>(seed: S, body: &'de [u8]) -> Result<S::Value, Wrong> {
        // No limit is set: it would be a constant of the type, and the guard borrows texts and bytes, so nothing is
        // allocated before its bytes are found.
        match seed_decode_from_slice(seed, body, standard()) {
            Ok((job, read)) if read == body.len() => Ok(job),
            Ok(_) => Err(Wrong::LONG),
            Err(error) => Err(wrong(&error)),
        }
    }
}

/// Most of the crate's errors show a number or bytes of the body.
const fn wrong(error: &DecodeError) -> Wrong {
    match error {
        DecodeError::UnexpectedEnd { .. } => Wrong::SHORT,
        DecodeError::Utf8 { .. } => Wrong::NO_TEXT,
        DecodeError::Serde(_) => Wrong::NO_ANY,
        DecodeError::OtherString(_) => Wrong::Job(None),
        _ => Wrong::MALFORMED,
    }
}
