//! The payload of a broker: bytes and a codec.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;

use super::{Codec, Wire};
use crate::{Payload, Undecodable};

/// A body that is decoded when a slot takes it: the [`Payload`] of every broker.
///
/// It keeps its bytes whether asked to or not: they are shared, and a dead letter carries them as they came.
pub struct Encoded<J, C> {
    body: Bytes,
    content_type: Option<Box<str>>,
    kind: Option<Box<str>>,
    codec: C,
    job: PhantomData<fn() -> J>,
}

impl<J, C: Codec<J>> Encoded<J, C> {
    /// A body as it came from the broker.
    #[must_use]
    pub fn new(codec: C, body: Bytes) -> Self {
        Self { body, content_type: None, kind: None, codec, job: PhantomData }
    }

    /// With the `content-type` that came with it.
    #[must_use]
    pub fn with_content_type(mut self, content_type: Option<Box<str>>) -> Self {
        self.content_type = content_type;
        self
    }

    /// With the `jobqueue-type` that came with it.
    #[must_use]
    pub fn with_kind(mut self, kind: Option<Box<str>>) -> Self {
        self.kind = kind;
        self
    }

    /// The whole body.
    #[must_use]
    pub const fn body(&self) -> &Bytes {
        &self.body
    }

    /// What the message says of itself.
    #[must_use]
    pub fn wire(&self) -> Wire<'_> {
        Wire { body: &self.body, content_type: self.content_type.as_deref(), kind: self.kind.as_deref() }
    }
}

impl<J: Send + 'static, C: Codec<J>> Payload for Encoded<J, C> {
    type Job = J;

    fn take(self, _keep: bool) -> (Result<J, Undecodable>, Option<Self>) {
        // A codec may be the user's: where it panics the body stays, and goes to the dead letters.
        let decoded = catch_unwind(AssertUnwindSafe(|| self.codec.decode(self.wire())));
        (decoded.unwrap_or_else(|_| Err(Undecodable("the codec panicked".into()))), Some(self))
    }
}

/// Shows the size, never the body.
impl<J, C> fmt::Debug for Encoded<J, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoded")
            .field("bytes", &self.body.len())
            .field("content_type", &self.content_type)
            .field("kind", &self.kind)
            .finish()
    }
}
