//! The words and numbers of the format.

use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A 64-bit number in 16 hexadecimal digits: an id or a fingerprint. JSON's own numbers end at 2⁵³ in many languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Hex(pub(crate) u64);

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digits;
        impl Visitor<'_> for Digits {
            type Value = Hex;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("16 hexadecimal digits in quotes")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Hex, E> {
                let digits = text.len() == 16 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
                let number = u64::from_str_radix(text, 16).ok().filter(|_| digits);
                number.map(Hex).ok_or_else(|| E::custom("16 hexadecimal digits in quotes were expected"))
            }
        }
        deserializer.deserialize_str(Digits)
    }
}

/// An enum whose variants are words of the format.
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        $vis enum $name { $($(#[$doc])* #[serde(rename = $word)] $variant,)* }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $word,)* })
            }
        }
    };
}

words! {
    /// Why nothing was done with a publish.
    #[non_exhaustive]
    pub enum Why {
        /// There was no room.
        Full = "full",
        /// The worker was closed.
        Closed = "closed",
        /// The body was too large.
        TooLarge = "too large",
        /// The broker found no queue.
        Unroutable = "unroutable",
        /// An option that the worker does not have.
        Unsupported = "unsupported",
        /// The codec could not write it.
        Unencodable = "unencodable",
        /// The broker said no.
        Rejected = "rejected",
        /// The call ended before it was sent.
        NotSent = "not sent",
    }
}

words! {
    /// How a handler ended.
    pub enum End {
        /// Well.
        Ok = "ok",
        /// With an error, or with the wish to be called again.
        Error = "error",
        /// By a panic.
        Panicked = "panicked",
        /// It took too long and was stopped.
        TimedOut = "timed out",
        /// It was stopped for another reason.
        Cancelled = "cancelled",
    }
}

words! {
    /// Which verdict was asked for.
    pub(crate) enum Ask {
        Ack = "ack",
        Retry = "retry",
        Dead = "dead",
        Return = "return",
    }
}

words! {
    /// What a settle answered.
    pub(crate) enum How {
        Done = "done",
        Lost = "lost",
        Gone = "gone",
        /// Nothing was done: the delivery is still with whoever asked.
        Kept = "kept",
    }
}

words! {
    /// Where a job is at the end of a run.
    #[non_exhaustive]
    pub enum Place {
        /// It could start now.
        Waiting = "waiting",
        /// It waits for its time.
        Delayed = "delayed",
        /// It is a dead letter.
        Dead = "dead",
        /// A shutdown handed it over.
        HandedOver = "handed over",
        /// It was cancelled by its id.
        Cancelled = "cancelled",
    }
}
