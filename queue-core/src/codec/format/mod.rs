//! What the codecs of this crate share: whose a message is, its bounds, and what an error shows.

mod guard;
mod media;

use std::borrow::Cow;
use std::iter::once;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Serialize;
use serde::de::{DeserializeOwned, DeserializeSeed};

use super::{Unencodable, Wire};
use crate::Undecodable;
use guard::{Guard, Watch};

/// The largest body that a codec reads or writes unless told otherwise: 16 MiB, the default message limit of RabbitMQ 4.
pub(super) const MAX_BYTES: usize = 16 * 1024 * 1024;

/// How much of an objection a reason shows, in characters.
const MAX_SHOWN: usize = 200;

/// A serde format: what is left of a codec once the shared rules are taken out.
pub(super) trait Format {
    /// Its media type.
    const TYPE: &'static str;
    /// Other names of the same, accepted and never written.
    const ALIASES: &'static [&'static str] = &[];

    /// Appends `job` to `body`; an error says why not, in words that hold nothing of the job.
    fn write<J: Serialize>(job: &J, body: &mut Vec<u8>) -> Result<(), Cow<'static, str>>;

    /// Reads one value, and refuses whatever follows it.
    fn read<'de, S: DeserializeSeed<'de>>(seed: S, body: &'de [u8]) -> Result<S::Value, Wrong>;
}

/// Why a body could not be read, in words that hold nothing of it.
#[derive(Debug)]
pub(super) enum Wrong {
    /// The bytes are not of the format.
    Bytes(Cow<'static, str>),
    /// They are, and do not fit the type of the job; with line and column where the format has them.
    Job(Option<(usize, usize)>),
}

impl Wrong {
    /// The value goes on beyond the body.
    pub(super) const SHORT: Self = Self::Bytes(Cow::Borrowed("the body ends within the value"));
    /// The body goes on beyond the value.
    pub(super) const LONG: Self = Self::Bytes(Cow::Borrowed("more bytes follow the value"));
    /// The bytes of a text are no text.
    #[cfg(any(feature = "bincode", feature = "postcard", feature = "messagepack"))]
    pub(super) const NO_TEXT: Self = Self::Bytes(Cow::Borrowed("a text is not UTF-8"));
    /// The type of the job wants to be told what comes next, and the format does not say.
    #[cfg(any(feature = "bincode", feature = "postcard"))]
    pub(super) const NO_ANY: Self =
        Self::Bytes(Cow::Borrowed("the type of the job needs a format that describes itself"));
    /// None of these.
    pub(super) const MALFORMED: Self = Self::Bytes(Cow::Borrowed("the bytes are no such value"));
}

/// Writes a job by `F`.
pub(super) fn encode<F: Format, J: Serialize>(
    max_bytes: usize,
    job: &J,
    body: &mut Vec<u8>,
) -> Result<(), Unencodable> {
    let before = body.len();
    let why = match F::write(job, body) {
        Ok(()) => {
            let bytes = body.len().saturating_sub(before);
            if bytes <= max_bytes {
                return Ok(());
            }
            format!("the body has {bytes} bytes, the bound is {max_bytes}").into()
        }
        Err(why) => why,
    };
    Err(Unencodable(format!("the job cannot be written as {}: {}", F::TYPE, cut(&why)).into()))
}

/// Reads a job by `F`.
pub(super) fn decode<F: Format, J: DeserializeOwned>(max_bytes: usize, message: Wire<'_>) -> Result<J, Undecodable> {
    if let Some(theirs) = message.content_type
        && !media::is_one_of(theirs, once(F::TYPE).chain(F::ALIASES.iter().copied()))
    {
        let theirs = media::shown(theirs);
        return Err(Undecodable(format!("the content type is {theirs}, this codec reads {}", F::TYPE).into()));
    }
    let bytes = message.body.len();
    if bytes > max_bytes {
        return Err(Undecodable(format!("the body has {bytes} bytes, the bound is {max_bytes}").into()));
    }
    read::<F, J>(message.body)
        .map_err(|why| Undecodable(format!("the body is no such job in {}: {}", F::TYPE, cut(&why)).into()))
}

fn read<F: Format, J: DeserializeOwned>(body: &[u8]) -> Result<J, Cow<'static, str>> {
    let watch = Watch::new(body.len());
    // Nothing that a panic could leave half done is looked at again: the watch only holds a number and a text.
    let read = catch_unwind(AssertUnwindSafe(|| F::read(Guard::<PhantomData<J>>::job(&watch), body)));
    match read {
        Ok(Ok(job)) => Ok(job),
        Ok(Err(Wrong::Bytes(why))) => Err(why),
        Ok(Err(Wrong::Job(place))) => {
            let why = watch.into_objection().unwrap_or(Cow::Borrowed("a value does not fit the type of the job"));
            Err(match place {
                Some((line, column)) => format!("{why}, line {line} column {column}").into(),
                None => why,
            })
        }
        Err(_panic) => Err("reading it panicked".into()),
    }
}

fn cut(why: &str) -> &str {
    why.char_indices().nth(MAX_SHOWN).and_then(|(end, _)| why.get(..end)).unwrap_or(why)
}

/// Defines a codec around the [`Format`] of the same name.
macro_rules! codec {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[must_use]
        pub struct $name {
            max_bytes: usize,
        }

        impl $name {
            /// Reads and writes bodies of up to 16 MiB.
            pub const fn new() -> Self {
                Self { max_bytes: $crate::codec::format::MAX_BYTES }
            }

            /// Reads and writes bodies of up to `bytes`. A larger one is refused before it is read, and once it is written.
            pub const fn max_bytes(mut self, bytes: usize) -> Self {
                self.max_bytes = bytes;
                self
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<J> $crate::Codec<J> for $name
        where
            J: serde::Serialize + serde::de::DeserializeOwned + Send + 'static,
        {
            fn content_type<'a>(&'a self, _job: &'a J) -> &'a str {
                <Self as $crate::codec::format::Format>::TYPE
            }

            fn encode(&self, job: &J, body: &mut Vec<u8>) -> Result<(), $crate::codec::Unencodable> {
                $crate::codec::format::encode::<Self, J>(self.max_bytes, job, body)
            }

            fn decode(&self, message: $crate::codec::Wire<'_>) -> Result<J, $crate::Undecodable> {
                $crate::codec::format::decode::<Self, J>(self.max_bytes, message)
            }
        }

        /// Passes a [`Routed`](crate::Routed) through: its body, content type and kind are the message's.
        impl $crate::Codec<$crate::Routed> for $name {
            fn content_type<'a>(&'a self, job: &'a $crate::Routed) -> &'a str {
                &job.content_type
            }

            fn kind<'a>(&'a self, job: &'a $crate::Routed) -> Option<&'a str> {
                Some(&job.kind)
            }

            fn encode(&self, job: &$crate::Routed, body: &mut Vec<u8>) -> Result<(), $crate::codec::Unencodable> {
                body.extend_from_slice(&job.body);
                Ok(())
            }

            fn decode(&self, message: $crate::codec::Wire<'_>) -> Result<$crate::Routed, $crate::Undecodable> {
                $crate::Routed::from_wire(message, <Self as $crate::codec::format::Format>::TYPE)
            }
        }
    };
}

pub(super) use codec;
