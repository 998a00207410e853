//! What a message says of itself: its id, its headers, its kind and its content type, as a broker may hand them over.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use queue_core::codec::{Codec, Json, Wire};
use queue_core::{Headers, JobId, Routed};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    id(&text);
    headers(bytes);
    routed(&text, bytes);
});

/// Sixteen hexadecimal digits and nothing else are an id, and are what it is shown as.
fn id(text: &str) {
    for text in text.split('\n') {
        let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match text.parse::<JobId>() {
            Ok(id) => assert!(digits && id.to_string().eq_ignore_ascii_case(text)),
            Err(_) => assert!(!digits),
        }
    }
}

/// Lines of names and values: a name occurs once, with the value that came last, in the order of the first.
fn headers(bytes: &[u8]) {
    let mut headers = Headers::default();
    let mut expected: Vec<(String, Bytes)> = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n').take(64) {
        let (name, value) = line.split_at(line.len() / 2);
        let (name, value) = (String::from_utf8_lossy(name).into_owned(), Bytes::copy_from_slice(value));
        let before = match expected.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => Some(std::mem::replace(old, value.clone())),
            None => {
                expected.push((name.clone(), value.clone()));
                None
            }
        };
        assert_eq!(headers.set(name.as_str(), value.clone()), before);
        assert_eq!(headers.get(&name), Some(&value[..]));
    }
    assert!(headers.iter().eq(expected.iter().map(|(name, value)| (name.as_str(), value))));
}

/// A job of any kind passes through as it is; one without a kind is none.
fn routed(text: &str, bytes: &[u8]) {
    let body = Bytes::copy_from_slice(bytes);
    let (kind, content_type) = text.split_once('\n').unwrap_or((text, ""));
    let json = Json::new();
    let none: Result<Routed, _> = json.decode(Wire { body: &body, content_type: Some(content_type), kind: None });
    assert!(none.is_err());
    let read: Routed = json.decode(Wire { body: &body, content_type: Some(content_type), kind: Some(kind) }).unwrap();
    assert_eq!((read.kind.as_str(), read.content_type.as_str(), &read.body), (kind, content_type, &body));
    let mut written = Vec::new();
    json.encode(&read, &mut written).unwrap();
    assert_eq!((written, json.kind(&read), json.content_type(&read)), (bytes.to_vec(), Some(kind), content_type));
}
