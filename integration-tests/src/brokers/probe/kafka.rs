//! Kafka: `ApiVersions`, whose answer names the newest metadata version that the broker knows, and so its release.

use std::io::{self, Read as _, Write as _};

use super::{Address, connect, strange};
use crate::brokers::Deadline;

/// `ApiVersions` (18) in its version 3, with the correlation id 1, no client id, and a client that calls itself `queue-test` `0`.
const REQUEST: &[u8] = b"\x00\x00\x00\x19\x00\x12\x00\x03\x00\x00\x00\x01\xff\xff\x00\x0bqueue-test\x020\x00";
/// The largest answer that is read.
const LARGEST: u32 = 256 * 1024;
/// The last level of the feature `metadata.version` in each release (Kafka, `MetadataVersion`).
const RELEASES: [(i16, &str); 12] = [
    (7, "3.3"),
    (8, "3.4"),
    (11, "3.5"),
    (14, "3.6"),
    (19, "3.7"),
    (20, "3.8"),
    (21, "3.9"),
    (25, "4.0"),
    (27, "4.1"),
    (29, "4.2"),
    (30, "4.3"),
    (33, "4.4"),
];

pub(super) fn ask(at: &Address, deadline: Deadline) -> io::Result<String> {
    let mut stream = connect(at, deadline)?;
    stream.write_all(REQUEST)?;
    let mut head = [0; 8];
    stream.read_exact(&mut head)?;
    let [size, correlation] =
        [&head[..4], &head[4..]].map(|four| four.iter().fold(0u32, |n, b| n << 8 | u32::from(*b)));
    if correlation != 1 || !(4..LARGEST).contains(&size) {
        return Err(strange("no answer to ApiVersions"));
    }
    let mut answer = vec![0; size.saturating_sub(4).try_into().map_err(io::Error::other)?];
    stream.read_exact(&mut answer)?;
    Ok(release(level(&answer)))
}

fn release(level: Option<i16>) -> String {
    let Some(level) = level else { return "unknown".to_owned() };
    let known = RELEASES.into_iter().find(|(last, _)| level <= *last);
    known.map_or_else(|| format!("later than 4.4 (metadata version {level})"), |(_, release)| release.to_owned())
}

/// The highest supported `metadata.version` of an answer of version 3; `None` where there is none.
fn level(answer: &[u8]) -> Option<i16> {
    let mut rest = Reader(answer);
    if rest.int16()? != 0 {
        return None;
    }
    for _ in 1..rest.varint()? {
        rest.skip(6)?;
        rest.tags()?;
    }
    rest.skip(4)?;
    for _ in 0..rest.varint()? {
        let (tag, size) = (rest.varint()?, rest.varint()?);
        let mut field = Reader(rest.skip(size)?);
        // Tag 0: the supported features.
        if tag == 0 {
            return field.feature(b"metadata.version");
        }
    }
    None
}

/// Kafka's primitive types, from the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn skip(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (skipped, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(skipped)
    }

    fn int16(&mut self) -> Option<i16> {
        self.skip(2)?.try_into().ok().map(i16::from_be_bytes)
    }

    fn varint(&mut self) -> Option<usize> {
        let mut value = 0;
        for shift in [0, 7, 14, 21] {
            let byte = usize::from(*self.skip(1)?.first()?);
            value |= (byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn tags(&mut self) -> Option<()> {
        for _ in 0..self.varint()? {
            self.varint()?;
            let size = self.varint()?;
            self.skip(size)?;
        }
        Some(())
    }

    fn feature(&mut self, name: &[u8]) -> Option<i16> {
        for _ in 1..self.varint()? {
            let length = self.varint()?.checked_sub(1)?;
            let is = self.skip(length)? == name;
            let (_, highest) = (self.int16()?, self.int16()?);
            self.tags()?;
            if is {
                return Some(highest);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{REQUEST, level, release};

    #[test]
    fn the_length_of_the_request_is_what_follows_it() {
        assert_eq!(usize::from(REQUEST[3]), REQUEST.len() - 4);
    }

    #[test]
    fn the_release_is_told_by_the_metadata_version() {
        let answer = b"\0\0\x02\0\x12\0\0\0\x04\0\0\0\0\0\x01\0\x17\x02\x11metadata.version\0\x07\0\x1f\0";
        assert_eq!(level(answer), Some(31));
        assert_eq!(release(Some(31)), "4.4");
        assert_eq!(level(&answer[..30]), None);
        assert_eq!(level(b"\0\x23\x01\0\0\0\0\0"), None);
        assert_eq!(release(None), "unknown");
    }
}
