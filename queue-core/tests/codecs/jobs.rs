//! Jobs of every shape, and short ways to write and read them.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use proptest::prelude::*;
use queue_core::Undecodable;
use queue_core::codec::{Codec, Wire};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mail {
    pub(crate) to: String,
    pub(crate) retries: Option<u32>,
    pub(crate) cc: Option<Vec<String>>,
    pub(crate) body: Bytes,
    pub(crate) shape: Shape,
    pub(crate) more: Vec<Shape>,
    pub(crate) by_name: BTreeMap<String, i64>,
    pub(crate) by_number: HashMap<u32, (bool, char)>,
    pub(crate) unit: (),
    pub(crate) wrapped: Wrapped,
    pub(crate) numbers: (u8, i8, u64, i64, f64, f32),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Shape {
    Unit,
    Newtype(String),
    Tuple(u16, Option<i32>),
    Struct { left: bool, right: Vec<u8> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Wrapped(pub(crate) u64);

/// One level an enum.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Node {
    Leaf,
    Next(Box<Self>),
}

/// Two levels a link: struct and option.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Chain {
    pub(crate) next: Option<Box<Self>>,
}

/// A level that takes no byte in JSON or MessagePack: anything but null goes on for ever.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Endless(pub(crate) Option<Box<Self>>);

/// A length at each level.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tree(pub(crate) Vec<Self>);

/// A map at each level.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Maps(pub(crate) BTreeMap<String, Self>);

/// A big frame at each level: the guard must hold on the stack of a thread of the runtime.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fat {
    #[serde(default)]
    pub(crate) a: [u64; 32],
    #[serde(default)]
    pub(crate) b: (String, String, String, String),
    pub(crate) next: Option<Box<Self>>,
}

pub(crate) fn mail() -> Mail {
    Mail {
        to: "zoë@пример.испытание 🦀\0\n\"".into(),
        retries: Some(0),
        cc: None,
        body: Bytes::from_static(&[0, 255, 128, 10, 13]),
        shape: Shape::Struct { left: true, right: vec![] },
        more: vec![Shape::Unit, Shape::Newtype(String::new()), Shape::Tuple(u16::MAX, Some(i32::MIN))],
        by_name: [("ключ".to_owned(), i64::MIN), (String::new(), 0)].into(),
        by_number: [(7, (true, 'ß')), (u32::MAX, (false, '\u{10ffff}'))].into(),
        unit: (),
        wrapped: Wrapped(u64::MAX),
        numbers: (u8::MAX, i8::MIN, u64::MAX, i64::MIN, f64::MIN_POSITIVE, f32::MAX),
    }
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Unit),
        any::<String>().prop_map(Shape::Newtype),
        any::<(u16, Option<i32>)>().prop_map(|(a, b)| Shape::Tuple(a, b)),
        any::<(bool, Vec<u8>)>().prop_map(|(left, right)| Shape::Struct { left, right }),
    ]
}

prop_compose! {
    pub(crate) fn mails()(
        (to, retries, cc) in any::<(String, Option<u32>, Option<Vec<String>>)>(),
        body in any::<Vec<u8>>(),
        shape in shapes(),
        more in prop::collection::vec(shapes(), 0..8),
        by_name in any::<BTreeMap<String, i64>>(),
        by_number in any::<HashMap<u32, (bool, char)>>(),
        wrapped in any::<u64>(),
        numbers in any::<(u8, i8, u64, i64)>(),
    ) -> Mail {
        let numbers = (numbers.0, numbers.1, numbers.2, numbers.3, f64::from(numbers.1) / 3.0, f32::from(numbers.0) / 3.0);
        Mail { to, retries, cc, body: body.into(), shape, more, by_name, by_number, unit: (), wrapped: Wrapped(wrapped), numbers }
    }
}

pub(crate) fn nodes(levels: usize) -> Node {
    (1..levels).fold(Node::Leaf, |node, _| Node::Next(Box::new(node)))
}

pub(crate) fn write<J>(codec: &impl Codec<J>, job: &J) -> Bytes {
    let mut body = Vec::new();
    codec.encode(job, &mut body).unwrap();
    body.into()
}

pub(crate) fn read<J>(codec: &impl Codec<J>, body: impl Into<Bytes>) -> Result<J, Undecodable> {
    codec.decode(Wire { body: &body.into(), content_type: None, kind: None })
}

pub(crate) fn read_as<J>(codec: &impl Codec<J>, body: &Bytes, content_type: &str) -> Result<J, Undecodable> {
    codec.decode(Wire { body, content_type: Some(content_type), kind: None })
}

/// The reason why a body is no `J`.
pub(crate) fn refusal<J: std::fmt::Debug>(codec: &impl Codec<J>, body: impl Into<Bytes>) -> String {
    read(codec, body).unwrap_err().to_string()
}
