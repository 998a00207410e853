//! One line of a log, as it is written and read.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) use super::words::{Ask, End, Hex, How, Place, Why};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
const fn is_zero(number: &u8) -> bool {
    *number == 0
}

/// An event with its fields: `#[serde]` notes are the format.
macro_rules! event {
    ($name:ident $(<$life:lifetime>)? { $($(#[$meta:meta])* $field:ident: $type:ty),* $(,)? }) => {
        #[derive(Debug, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name $(<$life>)? { $($(#[$meta])* pub(crate) $field: $type,)* }
    };
}

event!(Publish<'a> {
    n: u64,
    f: Hex,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")] key: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")] id: Option<Hex>,
    #[serde(default, skip_serializing_if = "Option::is_none")] delay: Option<u64>,
    #[serde(default, skip_serializing_if = "is_zero")] prio: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")] call: Option<u64>,
});
event!(Answered { n: u64, id: Hex });
event!(Refused { n: u64, why: Why });
event!(Delivered {
    d: u64,
    id: Hex,
    a: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")] fence: Option<u64>,
});
event!(Started { id: Hex, a: u32, f: Hex });
event!(Ended { id: Hex, a: u32, how: End });
event!(Settle {
    d: u64,
    v: Ask,
    #[serde(default, skip_serializing_if = "Option::is_none")] after: Option<u64>,
});
event!(Settled { d: u64, how: How });
event!(Delivery { d: u64 });
event!(OfJob { id: Hex });
event!(Replayed { id: Hex, done: bool });
event!(Left { id: Hex, place: Place });
event!(Killed<'a> {
    #[serde(borrow)] process: Cow<'a, str>,
});
event!(Cut<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")] process: Option<Cow<'a, str>>,
});
event!(Gate<'a> {
    #[serde(borrow)] step: Cow<'a, str>,
});
event!(Nothing {});

/// The events, with the word that names each.
macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident($type:ty) = $word:literal,)*) => {
        /// What happened.
        #[derive(Debug)]
        pub(crate) enum Event<'a> { $($(#[$doc])* $variant($type),)* }

        /// The words of all events.
        const EVENTS: &[&str] = &[$($word,)*];

        impl<'a> Event<'a> {
            fn read<A: MapAccess<'a>>(word: &str, map: &mut A) -> Result<Self, A::Error> {
                match word {
                    $($word => map.next_value().map(Self::$variant),)*
                    _ => Err(A::Error::unknown_variant(word, EVENTS)),
                }
            }

            fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                match self { $(Self::$variant(event) => map.serialize_entry($word, event),)* }
            }
        }
    };
}

events! {
    /// A publish is asked for.
    Publish(Publish<'a>) = "publish",
    /// It was confirmed.
    Confirmed(Answered) = "confirmed",
    /// Nothing was done.
    Refused(Refused) = "refused",
    /// Nobody knows.
    Unconfirmed(Answered) = "unconfirmed",
    /// A delivery was handed out.
    Delivered(Delivered) = "delivered",
    /// A handler has it.
    Started(Started) = "started",
    /// The handler ended.
    Ended(Ended) = "ended",
    /// A verdict is asked for.
    Settle(Settle) = "settle",
    /// It was answered.
    Settled(Settled) = "settled",
    /// It was not answered.
    Failed(Delivery) = "failed",
    /// The delivery was dropped without a verdict.
    GaveUp(Delivery) = "gave_up",
    /// A dead letter shall be put back.
    Replay(OfJob) = "replay",
    /// It was, or was not.
    Replayed(Replayed) = "replayed",
    /// A dead letter was dropped for good.
    Discarded(OfJob) = "discarded",
    /// A job was taken out.
    Cancelled(OfJob) = "cancelled",
    /// Where a job is at the end.
    Left(Left) = "left",
    /// A process was killed.
    Killed(Killed<'a>) = "killed",
    /// A connection or the broker broke.
    Cut(Cut<'a>) = "cut",
    /// This process stands at a gate.
    Gate(Gate<'a>) = "gate",
    /// This process ended in order.
    Closed(Nothing) = "closed",
}

/// A line: who, when, what.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) p: Cow<'a, str>,
    pub(crate) ms: Option<u64>,
    pub(crate) event: Event<'a>,
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("p", &self.p)?;
        if let Some(ms) = self.ms {
            map.serialize_entry("ms", &ms)?;
        }
        self.event.write(&mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Line<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lines;
        impl<'de> Visitor<'de> for Lines {
            type Value = Line<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event in an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line<'de>, A::Error> {
                let (mut p, mut ms, mut event) = (None, None, None);
                while let Some(Text(word)) = map.next_key()? {
                    match &*word {
                        "p" if p.is_none() => p = Some(map.next_value::<Text<'_>>()?.0),
                        "ms" if ms.is_none() => ms = Some(map.next_value()?),
                        word if event.is_none() => event = Some(Event::read(word, &mut map)?),
                        word => return Err(A::Error::custom(format!("a second `{word}` or event in one line"))),
                    }
                }
                let event = event.ok_or_else(|| A::Error::custom("a line without an event"))?;
                Ok(Line { p: p.ok_or_else(|| A::Error::missing_field("p"))?, ms, event })
            }
        }
        deserializer.deserialize_map(Lines)
    }
}

/// A text that is borrowed where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
