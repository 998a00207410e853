//! Whatever the bytes are, a codec answers.

use bytes::Bytes;
use proptest::prelude::*;
use queue_core::codec::Codec;
use serde::{Deserialize, Deserializer, Serialize};

use crate::jobs::{Chain, Endless, Mail, Maps, Node, Tree, read, refusal, write};

const MIB_16: usize = 16 * 1024 * 1024;

/// A type that panics on some values.
#[derive(Debug, Serialize)]
struct Panics(u8);

impl<'de> Deserialize<'de> for Panics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = u8::deserialize(deserializer)?;
        assert!(value < 7, "value {value}");
        Ok(Self(value))
    }
}

/// Reads `body` as many types; none of them may panic.
fn read_all<C>(codec: &C, body: &Bytes) -> Vec<(&'static str, bool)>
where
    C: Codec<Mail>
        + Codec<Node>
        + Codec<Chain>
        + Codec<Endless>
        + Codec<Tree>
        + Codec<Maps>
        + Codec<Option<Vec<String>>>
        + Codec<(f64, char, u128)>,
{
    fn one<J>(codec: &impl Codec<J>, body: &Bytes) -> bool {
        match read::<J>(codec, body.clone()) {
            Ok(_) => true,
            Err(error) => {
                assert!(!error.to_string().contains("panicked"), "{error}");
                false
            }
        }
    }
    vec![
        ("Mail", one::<Mail>(codec, body)),
        ("Node", one::<Node>(codec, body)),
        ("Chain", one::<Chain>(codec, body)),
        ("Endless", one::<Endless>(codec, body)),
        ("Tree", one::<Tree>(codec, body)),
        ("Maps", one::<Maps>(codec, body)),
        ("Option", one::<Option<Vec<String>>>(codec, body)),
        ("tuple", one::<(f64, char, u128)>(codec, body)),
    ]
}

each_codec! {
    fn no_bytes_are_no_job(codec) {
        let reason = refusal::<Mail>(&codec, Bytes::new());
        assert!(reason.contains("ends within the value"), "{reason}");
        assert!(read_all(&codec, &Bytes::new()).iter().all(|(_, read)| !read));
    }

    fn any_bytes_are_answered(codec) {
        proptest!(ProptestConfig::with_cases(512), |(body in prop::collection::vec(any::<u8>(), 0..256))| {
            read_all(&codec, &body.into());
        });
    }

    fn a_job_with_one_byte_changed_or_missing_is_answered(codec) {
        let body = write(&codec, &crate::jobs::mail());
        proptest!(ProptestConfig::with_cases(512), |(at in 0..body.len(), byte in any::<u8>())| {
            let mut changed = body.to_vec();
            changed[at] = byte;
            read_all(&codec, &changed.into());
            prop_assert!(read::<Mail>(&codec, body.slice(..at)).is_err());
        });
    }

    fn sixteen_mib_of_one_byte_are_no_job(codec) {
        for byte in [0x00, 0x01, 0x02, 0x7f, 0x80, 0x81, 0x91, 0xc0, 0xdd, 0xff, b'[', b'{', b'"', b'1'] {
            for (job, read) in read_all(&codec, &vec![byte; MIB_16].into()) {
                assert!(!read, "{job} of {byte:#x}");
            }
        }
    }

    fn sixteen_mib_of_random_bytes_are_no_job(codec) {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let body: Vec<u8> = (0..MIB_16).map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[0]
        }).collect();
        for (job, read) in read_all(&codec, &body.into()) {
            assert!(!read, "{job}");
        }
    }

    fn nesting_of_100_000_is_no_job(codec) {
        for level in [&b"\x01"[..], b"{\"Next\":", b"{\"next\":", b"[", b"\x81\xa4Next", b"\x81\xa4next", b"\x91", b"{\"\":", b"\x81\xa0", b"\x01\0"] {
            for (job, read) in read_all(&codec, &level.repeat(100_000).into()) {
                assert!(!read, "{job} of {level:?}");
            }
        }
    }

    fn a_type_that_panics_is_answered(codec) {
        assert_eq!(read::<Panics>(&codec, write(&codec, &Panics(6))).unwrap().0, 6);
        let reason = refusal::<Panics>(&codec, write(&codec, &Panics(7)));
        assert!(reason.contains("panicked") && !reason.contains("value 7"), "{reason}");
    }
}

/// The words of a body that never ends, so that the loops above are known to reach the guard.
#[cfg(feature = "json")]
#[test]
fn a_level_without_a_byte_is_counted() {
    let reason = refusal::<Endless>(&queue_core::codec::Json::new(), &b"1"[..]);
    assert!(reason.contains("nested deeper than 128"), "{reason}");
}

#[cfg(feature = "messagepack")]
#[test]
fn messagepack_goes_on_after_an_ignored_error() {
    /// A type that takes any value for zero.
    #[derive(Debug, Clone, PartialEq, Serialize)]
    struct Lenient(u8);

    impl<'de> Deserialize<'de> for Lenient {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            Ok(Self(<(bool,)>::deserialize(deserializer).map_or(0, |(value,)| value.into())))
        }
    }

    let codec = queue_core::codec::MessagePack::new();
    // An array of 2,000 arrays of one number where a boolean is asked for.
    let body = [&[0xdc, 0x07, 0xd0][..], &b"\x91\x07".repeat(2_000)].concat();
    assert_eq!(read::<Vec<Lenient>>(&codec, body).unwrap(), vec![Lenient(0); 2_000]);
}
