//! A codec reads what it wrote.

use proptest::prelude::*;
use queue_core::codec::Codec;

use crate::jobs::{Mail, Node, mail, mails, nodes, read, read_as, write};

each_codec! {
    fn every_shape_comes_back(codec) {
        let body = write(&codec, &mail());
        assert_eq!(read::<Mail>(&codec, body.clone()).unwrap(), mail());
        assert_eq!(read_as::<Mail>(&codec, &body, codec.content_type(&mail())).unwrap(), mail());
    }

    fn any_job_comes_back(codec) {
        proptest!(ProptestConfig::with_cases(64), |(job in mails())| {
            prop_assert_eq!(read::<Mail>(&codec, write(&codec, &job)).unwrap(), job);
        });
    }

    fn a_body_is_appended(codec) {
        let mut body = b"before".to_vec();
        codec.encode(&7_u8, &mut body).unwrap();
        assert!(body.starts_with(b"before"));
        assert_eq!(read::<u8>(&codec, body.split_off(6)).unwrap(), 7);
    }

    fn many_empty_elements_come_back(codec) {
        let job = vec![Vec::<u8>::new(); 300_000];
        assert_eq!(read::<Vec<Vec<u8>>>(&codec, write(&codec, &job)).unwrap(), job);
        let job = vec![(); 60_000];
        assert_eq!(read::<Vec<()>>(&codec, write(&codec, &job)).unwrap(), job);
        let job = vec![(1_u8, (), (), ()); 300_000];
        assert_eq!(read::<Vec<(u8, (), (), ())>>(&codec, write(&codec, &job)).unwrap(), job);
    }

    fn nesting_up_to_the_bound_comes_back(codec) {
        assert_eq!(read::<Node>(&codec, write(&codec, &nodes(128))).unwrap(), nodes(128));
    }
}

#[cfg(feature = "messagepack")]
#[test]
fn messagepack_names_its_fields_and_reads_a_struct_without_names() {
    let codec = queue_core::codec::MessagePack::new();
    let chain = crate::jobs::Chain { next: None };
    assert_eq!(&write(&codec, &chain)[..], b"\x81\xa4next\xc0");
    assert_eq!(read::<crate::jobs::Chain>(&codec, &b"\x91\xc0"[..]).unwrap(), chain);
}
