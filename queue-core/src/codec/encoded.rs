//! The payload of a broker: bytes and a codec.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;

use super::{Codec, Wire};
use crate::{Payload, Undecodable};

/// A body that is decoded when a slot takes it: the [`Payload`] of every broker.
///
/// It keeps its bytes whether asked to or not: they are shared, and a dead letter carries them as they came.
pub struct Encoded<J, C> {
    body: Bytes,
    content_type: Option<Arc<str>>,
    kind: Option<Box<str>>,
    codec: C,
    /// Why it is no job, where the backend knows before the codec.
    broken: Option<Undecodable>,
    job: PhantomData<fn() -> J>,
}

impl<J, C: Codec<J>> Encoded<J, C> {
    /// A body as it came from the broker.
    #[must_use]
    pub fn new(codec: C, body: Bytes) -> Self {
        Self { body, content_type: None, kind: None, codec, broken: None, job: PhantomData }
    }

    /// With the `content-type` that came with it. Shared: most messages of a queue have the same.
    #[must_use]
    pub fn with_content_type(mut self, content_type: Option<Arc<str>>) -> Self {
        self.content_type = content_type;
        self
    }

    /// With the `jobqueue-type` that came with it.
    #[must_use]
    pub fn with_kind(mut self, kind: Option<Box<str>>) -> Self {
        self.kind = kind;
        self
    }

    /// A body that the backend knows to be no job: of a newer format version, or without a body at all.
    #[must_use]
    pub fn with_broken(mut self, why: Undecodable) -> Self {
        self.broken = Some(why);
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
        if let Some(why) = &self.broken {
            return (Err(why.clone()), Some(self));
        }
        // A codec of the user's may panic: the body is still here, and becomes a dead letter.
        let decoded = catch_unwind(AssertUnwindSafe(|| self.codec.decode(self.wire())));
        let job = decoded.unwrap_or_else(|_| Err(Undecodable("the codec panicked".into())));
        (job, Some(self))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Unencodable;

    #[derive(Clone)]
    struct Panics;

    impl Codec<u64> for Panics {
        fn content_type<'a>(&'a self, _: &'a u64) -> &'a str {
            "text/plain"
        }

        fn encode(&self, _: &u64, _: &mut Vec<u8>) -> Result<(), Unencodable> {
            Ok(())
        }

        fn decode(&self, _: Wire<'_>) -> Result<u64, Undecodable> {
            panic!("no such number")
        }
    }

    /// E-63
    #[test]
    fn a_codec_that_panics_leaves_the_body() {
        let (job, back) = Encoded::<u64, _>::new(Panics, Bytes::from_static(b"body")).take(false);
        assert_eq!(job, Err(Undecodable("the codec panicked".into())));
        assert_eq!(back.map(|back| back.body().clone()), Some(Bytes::from_static(b"body")));
    }
}
