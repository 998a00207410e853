//! A message of another codec is refused by its content type.

use bytes::Bytes;
use queue_core::codec::Codec;

use crate::jobs::{Mail, mail, read, read_as, write};

/// The same job as each codec writes it.
fn bodies() -> Vec<(&'static str, Bytes)> {
    vec![
        #[cfg(feature = "json")]
        ("application/json", write(&queue_core::codec::Json::new(), &mail())),
        #[cfg(feature = "bincode")]
        ("application/x-bincode", write(&queue_core::codec::Bincode::new(), &mail())),
        #[cfg(feature = "postcard")]
        ("application/x-postcard", write(&queue_core::codec::Postcard::new(), &mail())),
        #[cfg(feature = "messagepack")]
        ("application/msgpack", write(&queue_core::codec::MessagePack::new(), &mail())),
        ("text/plain", Bytes::from_static(b"plain")),
    ]
}

each_codec! {
    fn another_type_is_refused_by_both_names(codec) {
        let ours = codec.content_type(&mail()).to_owned();
        for (theirs, body) in bodies() {
            let read = read_as::<Mail>(&codec, &body, theirs);
            if theirs == ours {
                assert_eq!(read.unwrap(), mail());
            } else {
                let reason = read.unwrap_err().to_string();
                assert!(reason.contains(theirs) && reason.contains(&ours), "{reason}");
            }
        }
    }

    fn another_body_without_a_type_is_no_panic(codec) {
        for (theirs, body) in bodies() {
            if let Ok(job) = read::<Mail>(&codec, body) {
                // The two binary formats agree on many bytes; on this job they may not agree and be wrong.
                assert_eq!(job, mail(), "{theirs}");
            }
        }
    }

    fn parameters_and_case_do_not_count(codec) {
        let ours = codec.content_type(&0_u8).to_owned();
        let body = write(&codec, &7_u8);
        for same in [format!("{ours}; charset=utf-8"), format!("{ours};v=1"), ours.to_uppercase(), format!(" {ours} "), String::new()] {
            assert_eq!(read_as::<u8>(&codec, &body, &same).unwrap(), 7, "{same}");
        }
        for other in [format!("{ours}x"), format!("{ours}+zip"), "application".to_owned()] {
            read_as::<u8>(&codec, &body, &other).unwrap_err();
        }
    }

    fn a_hostile_type_is_shown_cut_and_escaped(codec) {
        let hostile = format!("\r\n\u{1b}[2J\u{202e}{}", "x".repeat(1_000_000));
        let reason = read_as::<u8>(&codec, &write(&codec, &7_u8), &hostile).unwrap_err().to_string();
        assert!(reason.len() < 200, "{}", reason.len());
        assert!(!reason.contains(|c: char| c.is_control() || c == '\u{202e}'), "{reason}");
    }
}

#[cfg(feature = "messagepack")]
#[test]
fn messagepack_has_other_names() {
    let codec = queue_core::codec::MessagePack::new();
    for same in ["application/x-msgpack", "application/vnd.msgpack"] {
        assert_eq!(read_as::<u8>(&codec, &write(&codec, &7_u8), same).unwrap(), 7);
    }
}
