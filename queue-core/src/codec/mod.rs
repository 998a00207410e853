//! How a job becomes the body of a message, and back.

mod encoded;

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
