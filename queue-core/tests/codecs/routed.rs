//! A `Routed` job goes through every codec as it is.

use bytes::Bytes;
use queue_core::Routed;
use queue_core::codec::{Codec, Wire};

use crate::jobs::mail;

each_codec! {
    fn a_routed_job_is_its_message(codec) {
        let every_byte: Vec<u8> = (0..=255).collect();
        let job = Routed::new("picture", "image/png", every_byte.clone());
        assert_eq!(codec.content_type(&job), "image/png");
        assert_eq!(codec.kind(&job), Some("picture"));
        let mut body = b"before".to_vec();
        codec.encode(&job, &mut body).unwrap();
        assert_eq!(body, [&b"before"[..], &every_byte].concat());

        let wire = Wire { body: &job.body, content_type: Some("image/png"), kind: Some("picture") };
        let read: Routed = codec.decode(wire).unwrap();
        assert_eq!(read, job);
        // The bytes are shared, not copied.
        assert_eq!(read.body.as_ptr(), job.body.as_ptr());
    }

    fn without_a_content_type_it_is_the_codecs(codec) {
        let wire = Wire { body: &Bytes::new(), content_type: None, kind: Some("") };
        let read: Routed = codec.decode(wire).unwrap();
        assert_eq!(read, Routed::new("", codec.content_type(&0_u8), Bytes::new()));
    }

    fn without_a_kind_it_is_refused(codec) {
        let wire = Wire { body: &Bytes::from_static(b"SECRET"), content_type: Some("image/png"), kind: None };
        let error = Codec::<Routed>::decode(&codec, wire).unwrap_err();
        assert!(error.to_string().contains("jobqueue-type") && !error.to_string().contains("SECRET"), "{error}");
    }

    fn a_job_within_is_read_by_its_own_codec(codec) {
        let job = Routed::encode("mail", &codec, &mail()).unwrap();
        assert_eq!(job.decode::<crate::jobs::Mail, _>(&codec).unwrap(), mail());
        let other = Routed { content_type: "image/png".into(), ..job };
        assert!(other.decode::<crate::jobs::Mail, _>(&codec).is_err());
    }

    fn a_job_has_no_kind(codec) {
        assert_eq!(codec.kind(&mail()), None);
    }
}
