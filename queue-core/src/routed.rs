//! Many kinds of jobs in one queue.

use bytes::Bytes;

use crate::Undecodable;
use crate::codec::{Codec, Unencodable, Wire};

/// A job of one of many kinds: a name, a body, and what the body is.
///
/// Every codec passes it through as it is, so a queue of `Routed` jobs carries what any producer wrote. `Debug` shows no body.
///
/// ```
/// let job = queue_core::Routed::new("email", "application/json", &b"{}"[..]);
/// assert_eq!(job.kind, "email");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Routed {
    /// Which handler it is for; travels as `jobqueue-type`.
    pub kind: String,
    /// The media type of the body; travels as `content-type`.
    pub content_type: String,
    /// The whole body.
    pub body: Bytes,
}

impl Routed {
    /// A job of `kind`.
    pub fn new(kind: impl Into<String>, content_type: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self { kind: kind.into(), content_type: content_type.into(), body: body.into() }
    }

    /// A job of `kind`, written by `codec`.
    ///
    /// # Errors
    /// The codec cannot write `job`.
    pub fn encode<J, C: Codec<J>>(kind: impl Into<String>, codec: &C, job: &J) -> Result<Self, Unencodable> {
        let mut body = Vec::new();
        codec.encode(job, &mut body)?;
        Ok(Self::new(kind, codec.content_type(job), body))
    }

    /// A job of `kind`, in JSON.
    ///
    /// ```
    /// # use queue_core::Routed;
    /// let job = Routed::json("email", &("a@example.org".to_owned(), 7))?;
    /// assert_eq!((&*job.body, &*job.content_type), (&br#"["a@example.org",7]"#[..], "application/json"));
    /// # Ok::<(), queue_core::codec::Unencodable>(())
    /// ```
    ///
    /// # Errors
    /// JSON has no form for `job`.
    #[cfg(feature = "json")]
    pub fn json<J>(kind: impl Into<String>, job: &J) -> Result<Self, Unencodable>
    where
        crate::codec::Json: Codec<J>,
    {
        Self::encode(kind, &crate::codec::Json::new(), job)
    }

    /// The job, read by `codec`.
    ///
    /// # Errors
    /// The body is no such job.
    pub fn decode<J, C: Codec<J>>(&self, codec: &C) -> Result<J, Undecodable> {
        codec.decode(Wire { body: &self.body, content_type: Some(&self.content_type), kind: Some(&self.kind) })
    }

    /// What every codec does with a `Routed` that comes from a broker.
    #[cfg(any(feature = "json", feature = "bincode", feature = "postcard", feature = "messagepack"))]
    pub(crate) fn from_wire(message: Wire<'_>, default_type: &str) -> Result<Self, Undecodable> {
        let kind = message
            .kind
            .ok_or_else(|| Undecodable("the message names no kind: it has no `jobqueue-type` header".into()))?;
        Ok(Self::new(kind, message.content_type.unwrap_or(default_type), message.body.clone()))
    }
}

impl std::fmt::Debug for Routed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Routed")
            .field("kind", &self.kind)
            .field("content_type", &self.content_type)
            .field("bytes", &self.body.len())
            .finish()
    }
}
