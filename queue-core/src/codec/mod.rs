//! How a job becomes the body of a message, and back.
//!
//! Four codecs, each behind a feature of its own name: `Json` (the default), `MessagePack`, `Postcard` and `Bincode`. Each reads and
//! writes any job that serde can, and passes a [`Routed`](crate::Routed) through. A message is [`Undecodable`] where its content type is
//! another codec's, where bytes follow the value, where the type of the job refuses it or panics, and beyond these bounds:
//!
//! | bound | default | reason |
//! |---|---|---|
//! | size of a body, read or written | 16 MiB, set by `max_bytes` | the largest message of RabbitMQ 4 unless configured |
//! | depth of a value | 128 levels | the limit of serde_json; a value of big structs fits a stack of 2 MiB |
//! | elements reserved ahead of being read | 4,096 | a guess: a claimed length costs nothing to write |
//! | elements that take no bytes, as in `Vec<()>` | 65,536 in a body | a guess: no common job has them |
//!
//! Each sequence, map, struct, tuple, enum, newtype and `Some` is a level. Depth is bounded in reading only: a job that nests
//! deeper is written, and is undecodable. A type that buffers its input (`untagged`, `flatten`, an internal tag) is bounded while it is
//! buffered; whether it then ends is up to the type.
//!
//! A reason names what the type wanted, and nothing of the body: neither a value nor the name of an unknown field.

#[cfg(feature = "bincode")]
mod bincode;
mod encoded;
#[cfg(any(feature = "json", feature = "bincode", feature = "postcard", feature = "messagepack"))]
mod format;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "messagepack")]
mod messagepack;
#[cfg(feature = "postcard")]
mod postcard;

#[cfg(feature = "bincode")]
pub use self::bincode::Bincode;
#[cfg(feature = "json")]
pub use self::json::Json;
#[cfg(feature = "messagepack")]
pub use self::messagepack::MessagePack;
#[cfg(feature = "postcard")]
pub use self::postcard::Postcard;
pub use encoded::Encoded;

use bytes::Bytes;

use crate::Undecodable;

/// A job that a codec cannot write. It never shows the job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unencodable(pub Box<str>);

/// A message as it came from the broker, before it is a job.
#[derive(Debug, Clone, Copy)]
pub struct Wire<'a> {
    /// The whole body.
    pub body: &'a Bytes,
    /// The `content-type`, where the producer set one.
    pub content_type: Option<&'a str>,
    /// The `jobqueue-type`: the kind of a [`Routed`](crate::Routed) job.
    pub kind: Option<&'a str>,
}

/// Writes and reads the body of a message: the codec's bytes are the whole body, no wrapper, no base64.
///
/// Reading is bounded in size and depth and never panics, whatever the bytes are.
#[diagnostic::on_unimplemented(
    message = "`{J}` is no job for a broker: the codec `{Self}` has no bytes for it",
    label = "a broker's jobs leave this process as bytes",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it, or give the worker a codec of your own",
    note = "what cannot leave the process, such as a closure or a connection, runs on `Ring::once()`"
)]
pub trait Codec<J>: Clone + Send + Sync + 'static {
    /// What the body is, as a media type.
    fn content_type<'a>(&'a self, job: &'a J) -> &'a str;

    /// The kind of the job, where jobs of many kinds share a queue.
    fn kind<'a>(&'a self, _job: &'a J) -> Option<&'a str> {
        None
    }

    /// Appends the body to `body`.
    ///
    /// # Errors
    /// The job has no form in this codec. What was appended is cut off by the caller.
    fn encode(&self, job: &J, body: &mut Vec<u8>) -> Result<(), Unencodable>;

    /// Reads a job. A message without a content type is taken as this codec's.
    ///
    /// # Errors
    /// The bytes are no job, the content type is another codec's, or a bound was passed.
    fn decode(&self, message: Wire<'_>) -> Result<J, Undecodable>;
}
