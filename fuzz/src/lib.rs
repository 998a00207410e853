//! A job as services have them, and what must hold of any bytes that claim to be one.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use bytes::Bytes;
use queue_core::codec::{Codec, Wire};
use serde::{Deserialize, Serialize};

/// An order. Without floats: JSON's reader is an ulp off on some, and a NaN equals nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    pub id: u64,
    pub customer: String,
    pub lines: Vec<Line>,
    pub labels: BTreeMap<String, Option<i32>>,
    pub payment: Payment,
    /// A tree: as deep as the bytes say.
    pub parts: Vec<Order>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub article: (u16, char),
    pub cents: i64,
    pub picture: Vec<u8>,
    pub nothing: Vec<()>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Payment {
    Cash,
    Card(String),
    Transfer { account: Box<str>, reference: Option<u128> },
}

/// Any bytes: reading never panics, and what was read is written, and read again as the same.
pub fn round_trip<C: Codec<Order>>(codec: &C, bytes: &[u8]) {
    let body = Bytes::copy_from_slice(bytes);
    let Ok(order) = codec.decode(Wire { body: &body, content_type: None, kind: None }) else { return };
    let mut written = Vec::new();
    codec.encode(&order, &mut written).expect("what was read can be written");
    let content_type = codec.content_type(&order);
    let again = codec.decode(Wire { body: &written.into(), content_type: Some(content_type), kind: None });
    assert_eq!(again.expect("what was written can be read"), order);
}
