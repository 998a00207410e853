//! A length that the body claims and does not have.

use std::collections::BTreeMap;

use bytes::Bytes;
#[cfg(any(feature = "postcard", feature = "bincode"))]
use queue_core::codec::Codec;

#[cfg(feature = "messagepack")]
use crate::jobs::read;
use crate::jobs::refusal;

/// A length as postcard writes it.
#[cfg(feature = "postcard")]
#[test]
fn a_length_beyond_the_body_is_refused_by_postcard() {
    huge_lengths(&queue_core::codec::Postcard::new(), |n| {
        let mut bytes = Vec::new();
        let mut left = n;
        while left >= 0x80 {
            bytes.push(left.to_le_bytes()[0] | 0x80);
            left >>= 7;
        }
        bytes.push(left.to_le_bytes()[0]);
        bytes
    });
}

#[cfg(feature = "bincode")]
#[test]
fn a_length_beyond_the_body_is_refused_by_bincode() {
    huge_lengths(&queue_core::codec::Bincode::new(), |n| [&[253][..], &n.to_le_bytes()].concat());
}

#[cfg(any(feature = "postcard", feature = "bincode"))]
fn huge_lengths<C>(codec: &C, length: impl Fn(u64) -> Vec<u8>)
where
    C: Codec<String>
        + Codec<Bytes>
        + Codec<Vec<u64>>
        + Codec<Vec<[u64; 32]>>
        + Codec<Vec<()>>
        + Codec<BTreeMap<(), ()>>,
{
    // More than there is, more than there could be, and more than can be asked for.
    for n in [1 << 33, 1 << 40, u64::MAX] {
        let body = Bytes::from([length(n), vec![b'x'; 1_000]].concat());
        for short in [
            refusal::<String>(codec, body.clone()),
            refusal::<Bytes>(codec, body.clone()),
            refusal::<Vec<u64>>(codec, body.clone()),
            refusal::<Vec<[u64; 32]>>(codec, body.clone()),
        ] {
            assert!(short.contains("the body ends within the value"), "{short}");
        }
        // Elements that take no bytes: the length alone would keep a thread busy for years.
        for endless in [refusal::<Vec<()>>(codec, body.clone()), refusal::<BTreeMap<(), ()>>(codec, body.clone())] {
            assert!(endless.contains("more elements than the body has bytes for"), "{endless}");
        }
    }
}

#[cfg(feature = "messagepack")]
#[test]
fn a_length_beyond_the_body_is_refused_by_messagepack() {
    let codec = queue_core::codec::MessagePack::new();
    for (marker, name) in [(0xdb, "str 32"), (0xc6, "bin 32"), (0xdd, "array 32"), (0xdf, "map 32"), (0xc9, "ext 32")] {
        let body = Bytes::from([&[marker, 0xff, 0xff, 0xff, 0xff][..], &[1; 1_000]].concat());
        refusal::<String>(&codec, body.clone());
        refusal::<Bytes>(&codec, body.clone());
        refusal::<Vec<u64>>(&codec, body.clone());
        assert!(read::<BTreeMap<u8, u8>>(&codec, body).is_err(), "{name}");
    }
}
