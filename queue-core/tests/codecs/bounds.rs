//! Size and depth.

use std::fmt;

use queue_core::codec::Codec;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::jobs::{Chain, Fat, Node, nodes, read, refusal, write};

const MIB_16: usize = 16 * 1024 * 1024;

/// How many elements the format claims to have.
#[derive(Debug)]
struct Claimed(usize);

impl Serialize for Claimed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(0..self.0)
    }
}

impl<'de> Deserialize<'de> for Claimed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Claim;
        impl<'de> Visitor<'de> for Claim {
            type Value = Claimed;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sequence or map")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Claimed, A::Error> {
                let claimed = Claimed(seq.size_hint().unwrap_or(0));
                while seq.next_element::<u64>()?.is_some() {}
                Ok(claimed)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Claimed, A::Error> {
                let claimed = Claimed(map.size_hint().unwrap_or(0));
                while map.next_entry::<u64, u64>()?.is_some() {}
                Ok(claimed)
            }
        }
        deserializer.deserialize_seq(Claim)
    }
}

each_codec! {
    fn the_size_bound_is_exact_and_named(codec) {
        let body = write(&codec, &"x".repeat(100));
        let bytes = body.len();
        assert!(read::<String>(&codec.max_bytes(bytes), body.clone()).is_ok());
        let reason = refusal::<String>(&codec.max_bytes(bytes - 1), body);
        assert!(reason.contains(&format!("{bytes} bytes")) && reason.contains(&(bytes - 1).to_string()), "{reason}");
    }

    fn the_bound_is_16_mib_unless_set(codec) {
        let reason = refusal::<String>(&codec, vec![0; MIB_16 + 1]);
        assert!(reason.contains("16777217 bytes") && reason.contains("16777216"), "{reason}");
        assert!(!refusal::<String>(&codec, vec![0xc1; MIB_16]).contains("16777216"));
        assert_eq!(codec, Default::default());
    }

    fn what_could_not_be_read_is_not_written(codec) {
        let bytes = write(&codec, &"secret".to_owned()).len();
        let mut body = vec![0; 50];
        Codec::<String>::encode(&codec.max_bytes(bytes), &"secret".to_owned(), &mut body).unwrap();
        let error = Codec::<String>::encode(&codec.max_bytes(bytes - 1), &"secret".to_owned(), &mut body).unwrap_err();
        assert!(error.to_string().contains(&format!("{bytes} bytes")), "{error}");
    }

    fn one_level_above_the_bound_is_refused(codec) {
        let reason = refusal::<Node>(&codec, write(&codec, &nodes(129)));
        // serde_json counts the objects by itself.
        assert!(reason.contains("nested deeper than 128") || reason.contains("recursion limit"), "{reason}");
    }

    fn a_struct_and_its_option_are_a_level_each(codec) {
        let chain = |links| (0..links).fold(Chain { next: None }, |chain, _| Chain { next: Some(Box::new(chain)) });
        assert_eq!(read::<Chain>(&codec, write(&codec, &chain(63))).unwrap(), chain(63));
        let reason = refusal::<Chain>(&codec, write(&codec, &chain(64)));
        assert!(reason.contains("nested deeper than 128"), "{reason}");
    }

    fn siblings_are_no_levels(codec) {
        let job: Vec<Node> = (0..1_000).map(|n| nodes(n % 100 + 1)).collect();
        assert_eq!(read::<Vec<Node>>(&codec, write(&codec, &job)).unwrap(), job);
    }

    fn big_frames_fit_the_stack_of_a_thread(codec) {
        let fat = |links| (0..links).fold(Fat::default(), |fat, _| Fat { next: Some(Box::new(fat)), ..Fat::default() });
        assert_eq!(read::<Fat>(&codec, write(&codec, &fat(62))).unwrap(), fat(62));
        refusal::<Fat>(&codec, write(&codec, &fat(200)));
    }

    fn a_claimed_length_reserves_little(codec) {
        let claimed = read::<Claimed>(&codec, write(&codec, &Claimed(100_000))).unwrap();
        assert!(claimed.0 <= 4_096, "{claimed:?}");
    }

    fn bytes_after_the_value_are_refused(codec) {
        for more in [&b"\0"[..], b"1", b"\xc0", b"\xff", b"]"] {
            let body = [&write(&codec, &(7_u8, "x".to_owned()))[..], more].concat();
            let reason = refusal::<(u8, String)>(&codec, body);
            assert!(reason.contains("more bytes follow"), "{reason}");
        }
    }
}
