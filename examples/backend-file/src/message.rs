//! A message as the bytes of a file.

use bytes::Bytes;
use queue_core::Undecodable;
use queue_core::wire::Pairs;

/// Metadata and body: lines of `name: value`, an empty line, then the body as it is.
///
/// Bytes that are not printable ASCII, `%` and `:` stand in the lines as `%` and two hexadecimal digits.
///
/// ```
/// use backend_file::Message;
/// use bytes::Bytes;
/// let file = Bytes::from_static(b"content-type: application/json\n\n{\"to\":\"a\"}");
/// let message = Message::decode(file.clone()).unwrap();
/// assert_eq!(message.body, r#"{"to":"a"}"#);
/// assert_eq!(message.encode(), file);
/// ```
#[derive(Clone, Default)]
pub struct Message {
    /// Names and values, as [`wire`](queue_core::wire) names them.
    pub pairs: Pairs,
    /// The codec's bytes.
    pub body: Bytes,
}

/// Shows the size, never the body.
impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Message").field("pairs", &self.pairs.len()).field("bytes", &self.body.len()).finish()
    }
}

impl Message {
    /// The bytes of the file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut file = Vec::with_capacity(self.body.len() + 256);
        for (name, value) in &self.pairs {
            escape(name.as_bytes(), &mut file);
            file.extend_from_slice(b": ");
            escape(value, &mut file);
            file.push(b'\n');
        }
        file.push(b'\n');
        file.extend_from_slice(&self.body);
        file
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// A line before the empty one is no pair.
    pub fn decode(mut file: Bytes) -> Result<Self, Undecodable> {
        let mut pairs = Pairs::new();
        loop {
            let end = file.iter().position(|byte| *byte == b'\n');
            let line = file.split_to(end.ok_or_else(|| broken("has no empty line"))?);
            drop(file.split_to(1));
            if line.is_empty() {
                return Ok(Self { pairs, body: file });
            }
            let at = line.windows(2).position(|two| two == b": ").ok_or_else(|| broken("is no `name: value`"))?;
            let name = String::from_utf8(unescape(&line[..at])).map_err(|_| broken("has a name that is no text"))?;
            pairs.push((name.into(), unescape(&line[at + 2..]).into()));
        }
    }

    /// Sets pairs, instead of those of the same names.
    pub(crate) fn set(&mut self, pairs: Pairs) {
        self.pairs.retain(|(name, _)| pairs.iter().all(|(other, _)| other != name));
        self.pairs.extend(pairs);
    }

    /// The value of a pair, as text.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let (_, value) = self.pairs.iter().find(|(it, _)| &**it == name)?;
        Some(String::from_utf8_lossy(value).into_owned())
    }
}

fn broken(how: &str) -> Undecodable {
    Undecodable(format!("the head of the file {how}").into())
}

fn escape(bytes: &[u8], into: &mut Vec<u8>) {
    for byte in bytes {
        if matches!(byte, b' '..=b'~') && !matches!(byte, b'%' | b':') {
            into.push(*byte);
        } else {
            into.extend_from_slice(format!("%{byte:02x}").as_bytes());
        }
    }
}

fn unescape(mut text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    while let [first, rest @ ..] = text {
        let digits = rest.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        text = if byte.is_some() { &rest[2..] } else { rest };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_come_back_as_they_went() {
        let all: Vec<u8> = (0..=255).collect();
        let pairs = vec![("x: y\n%3a".into(), all.clone().into()), ("empty".into(), Bytes::new())];
        let message = Message { pairs, body: all.into() };
        let back = Message::decode(message.encode().into()).unwrap();
        assert_eq!((back.pairs, back.body), (message.pairs, message.body));
    }

    #[test]
    fn what_has_no_head_is_named() {
        for (file, how) in [("", "no empty line"), ("a: b\n", "no empty line"), ("{}\n\n", "no `name: value`")] {
            let why = Message::decode(Bytes::from(file)).unwrap_err().to_string();
            assert!(why.contains(how), "{why}");
        }
    }
}
