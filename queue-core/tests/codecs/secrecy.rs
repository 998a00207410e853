//! A reason never shows the body, and still says what is wrong.

use std::collections::BTreeMap;

use bytes::Bytes;
use queue_core::codec::Codec;
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::jobs::{Mail, Node, Shape, read, refusal, write};

const SECRET: &str = "SECRET-MARKER";
const NUMBER: u64 = 987_654_321_012_345;

/// A type that puts what it read into each error that it may raise.
#[derive(Debug)]
struct Leaks;

impl<'de> Deserialize<'de> for Leaks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (kind, text) = <(u8, String)>::deserialize(deserializer)?;
        Err(match kind {
            0 => D::Error::custom(format!("no such mail box: {text}")),
            1 => D::Error::invalid_type(Unexpected::Str(&text), &"a number"),
            2 => D::Error::invalid_value(Unexpected::Bytes(text.as_bytes()), &"a number"),
            3 => D::Error::invalid_value(Unexpected::Other(&text), &"a number"),
            4 => D::Error::unknown_variant(&text, &["a"]),
            _ => D::Error::unknown_field(&text, &["a"]),
        })
    }
}

impl Serialize for Leaks {
    fn serialize<S: Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom(SECRET))
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    #[serde(default)]
    known: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(u32),
    Strict(Strict),
}

/// What each codec says to `body` as many types that it is not.
fn refusals<C>(codec: &C, body: &Bytes) -> Vec<String>
where
    C: Codec<Mail>
        + Codec<Node>
        + Codec<Strict>
        + Codec<Untagged>
        + Codec<Leaks>
        + Codec<u8>
        + Codec<bool>
        + Codec<char>
        + Codec<(u8, u8)>
        + Codec<Vec<Shape>>
        + Codec<BTreeMap<u8, bool>>
        + Codec<std::net::IpAddr>,
{
    fn one<J>(codec: &impl Codec<J>, body: &Bytes) -> Option<String> {
        read::<J>(codec, body.clone()).err().map(|error| format!("{error} {error:?}"))
    }
    [
        one::<Mail>(codec, body),
        one::<Node>(codec, body),
        one::<Strict>(codec, body),
        one::<Untagged>(codec, body),
        one::<Leaks>(codec, body),
        one::<u8>(codec, body),
        one::<bool>(codec, body),
        one::<char>(codec, body),
        one::<(u8, u8)>(codec, body),
        one::<Vec<Shape>>(codec, body),
        one::<BTreeMap<u8, bool>>(codec, body),
        one::<std::net::IpAddr>(codec, body),
    ]
    .into_iter()
    .flatten()
    .collect()
}

each_codec! {
    fn a_reason_never_shows_the_body(codec) {
        let map = BTreeMap::from([(SECRET.to_owned(), SECRET.to_owned())]);
        let numbers = BTreeMap::from([(SECRET.to_owned(), NUMBER)]);
        let mut bodies = vec![
            write(&codec, &SECRET.to_owned()),
            write(&codec, &NUMBER),
            write(&codec, &(NUMBER, SECRET.to_owned())),
            write(&codec, &vec![SECRET.to_owned(); 3]),
            write(&codec, &vec![NUMBER; 2]),
            write(&codec, &map),
            write(&codec, &numbers),
            write(&codec, &BTreeMap::from([("known".to_owned(), SECRET.to_owned())])),
            write(&codec, &BTreeMap::from([("Next".to_owned(), map)])),
            write(&codec, &Bytes::from_static(SECRET.as_bytes())),
            Bytes::from_static(SECRET.as_bytes()),
        ];
        bodies.extend((0..6_u8).map(|kind| write(&codec, &(kind, SECRET.to_owned()))));
        let mut seen = 0;
        for body in bodies {
            for reason in refusals(&codec, &body) {
                assert!(!reason.contains("SECRET") && !reason.contains("MARKER") && !reason.contains("98765432"), "{reason}");
                seen += 1;
            }
        }
        assert!(seen > 150, "{seen}");
    }

    fn an_encoding_error_never_shows_the_job(codec) {
        let error = codec.encode(&Leaks, &mut Vec::new()).unwrap_err();
        assert!(!format!("{error} {error:?}").contains(SECRET), "{error}");
        assert!(error.to_string().contains("refuses to be written"), "{error}");
    }

    fn an_objection_of_the_type_is_told(codec) {
        let reason = refusal::<Leaks>(&codec, write(&codec, &(0_u8, SECRET.to_owned())));
        assert!(reason.contains("the type of the job refuses a value"), "{reason}");
        let reason = refusal::<Leaks>(&codec, write(&codec, &(1_u8, SECRET.to_owned())));
        assert!(reason.contains("found a string, expected a number"), "{reason}");
        let reason = refusal::<Leaks>(&codec, write(&codec, &(9_u8, SECRET.to_owned())));
        assert!(reason.contains("unknown field, known are: a"), "{reason}");
    }
}

/// The formats that name their fields.
#[cfg(any(feature = "json", feature = "messagepack"))]
fn names_are_told(
    codec: &(impl Codec<Mail> + Codec<Strict> + Codec<BTreeMap<String, u32>> + Codec<Node> + Codec<String>),
) {
    let map = write::<BTreeMap<String, u32>>(codec, &BTreeMap::from([("extra".to_owned(), 1)]));
    let reason = refusal::<Mail>(codec, map.clone());
    assert!(reason.contains("the field `to` is missing"), "{reason}");
    let reason = refusal::<Strict>(codec, map);
    assert!(reason.contains("unknown field, known are: known"), "{reason}");
    let reason = refusal::<Node>(codec, write::<String>(codec, &SECRET.to_owned()));
    assert!(reason.contains("unknown variant, known are: Leaf, Next"), "{reason}");
}

#[cfg(feature = "messagepack")]
#[test]
fn messagepack_tells_names() {
    names_are_told(&queue_core::codec::MessagePack::new());
}

#[cfg(feature = "json")]
#[test]
fn json_tells_names_and_places() {
    let codec = queue_core::codec::Json::new();
    names_are_told(&codec);
    let reason = refusal::<(u8, u8)>(&codec, &b"[1,\n  \"x\"]"[..]);
    assert!(reason.contains("line 2 column 5"), "{reason}");
    let reason = refusal::<(u8, u8)>(&codec, &b"[1;"[..]);
    assert!(reason.contains("expected `,` or `]` at line 1 column 3"), "{reason}");
}

#[cfg(feature = "json")]
#[test]
fn json_says_why_a_map_cannot_be_written() {
    let map = BTreeMap::from([(vec![1_u8], 1_u8)]);
    let error = queue_core::codec::Json::new().encode(&map, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("key must be a string"), "{error}");
}
