//! Headers: names with binary values.

use bytes::Bytes;

/// User headers of a message: text names, binary values, in the order in which they were set.
///
/// A name occurs once; setting it again replaces the value.
///
/// ```
/// use queue_core::Headers;
/// let mut headers = Headers::default();
/// headers.set("tenant", "north");
/// headers.set("raw", vec![0xff, 0x00]);
/// assert_eq!(headers.get("tenant"), Some(&b"north"[..]));
/// assert_eq!(headers.len(), 2);
/// ```
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Headers(Vec<(Box<str>, Bytes)>);

impl Headers {
    /// Sets `name` to `value`; what stood there before comes back.
    pub fn set(&mut self, name: impl Into<Box<str>>, value: impl Into<Bytes>) -> Option<Bytes> {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(n, _)| *n == name) {
            Some((_, old)) => Some(std::mem::replace(old, value)),
            None => {
                self.0.push((name, value));
                None
            }
        }
    }

    /// The value of `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(n, _)| &**n == name).map(|(_, v)| &**v)
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Bytes)> {
        self.0.iter().map(|(n, v)| (&**n, v))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_order_and_a_second_value_replaces_the_first() {
        let mut headers = Headers::default();
        assert!(headers.is_empty());
        assert_eq!(headers.set("b", "1"), None);
        assert_eq!(headers.set("a", vec![0, 255]), None);
        assert_eq!(headers.set("b", "3"), Some(Bytes::from_static(b"1")));
        let all: Vec<_> = headers.iter().map(|(name, value)| (name, &value[..])).collect();
        assert_eq!(all, [("b", &b"3"[..]), ("a", &[0, 255])]);
        assert_eq!(headers.len(), 2);
        assert!(!headers.is_empty());
    }

    #[test]
    fn a_name_is_found_as_it_was_set() {
        let mut headers = Headers::default();
        headers.set("Tenant", "");
        assert_eq!(headers.get("Tenant"), Some(&b""[..]));
        assert_eq!(headers.get("tenant"), None);
        assert_eq!(headers.get("Ten"), None);
    }
}
