//! One type for all codecs, so that one backend type serves every test.

use queue_core::codec::{Unencodable, Wire};
use queue_core::{Bincode, Codec, Json, MessagePack, Postcard, Undecodable};

use crate::Job;

/// The codec that a test asks a backend to use: one of the project's four, or none at all.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AnyCodec {
    /// JSON.
    Json(Json),
    /// Bincode.
    Bincode(Bincode),
    /// Postcard.
    Postcard(Postcard),
    /// `MessagePack`.
    MessagePack(MessagePack),
    /// The body is [`Job::bytes`] as they are: tests choose each byte on the wire.
    Raw,
}

impl Default for AnyCodec {
    fn default() -> Self {
        Self::Json(Json::default())
    }
}

impl AnyCodec {
    /// The four that read and write a whole [`Job`].
    #[must_use]
    pub fn all() -> [Self; 4] {
        [
            Self::default(),
            Self::Bincode(Bincode::default()),
            Self::Postcard(Postcard::default()),
            Self::MessagePack(MessagePack::default()),
        ]
    }
}

impl Codec<Job> for AnyCodec {
    fn content_type<'a>(&'a self, job: &'a Job) -> &'a str {
        match self {
            Self::Json(codec) => codec.content_type(job),
            Self::Bincode(codec) => codec.content_type(job),
            Self::Postcard(codec) => codec.content_type(job),
            Self::MessagePack(codec) => codec.content_type(job),
            Self::Raw => "application/octet-stream",
        }
    }

    fn encode(&self, job: &Job, body: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            Self::Json(codec) => codec.encode(job, body),
            Self::Bincode(codec) => codec.encode(job, body),
            Self::Postcard(codec) => codec.encode(job, body),
            Self::MessagePack(codec) => codec.encode(job, body),
            Self::Raw => {
                body.extend_from_slice(&job.bytes);
                Ok(())
            }
        }
    }

    fn decode(&self, message: Wire<'_>) -> Result<Job, Undecodable> {
        match self {
            Self::Json(codec) => codec.decode(message),
            Self::Bincode(codec) => codec.decode(message),
            Self::Postcard(codec) => codec.decode(message),
            Self::MessagePack(codec) => codec.decode(message),
            Self::Raw => Ok(Job::raw(message.body.to_vec())),
        }
    }
}
