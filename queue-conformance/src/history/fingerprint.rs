//! What a job is recognised by, without its content in the log.

use std::borrow::Cow;

use bytes::Bytes;
use queue_core::Routed;

/// A job that can be recognised.
///
/// ```
/// use queue_conformance::history::{Fingerprint, fingerprint_of};
/// struct Email { to: String, number: u64 }
/// impl Fingerprint for Email {
///     fn fingerprint(&self) -> u64 {
///         fingerprint_of(&[self.to.as_bytes(), &self.number.to_le_bytes()])
///     }
/// }
/// let email = |number| Email { to: "a@example.org".into(), number };
/// assert_ne!(email(1).fingerprint(), email(2).fingerprint());
/// ```
pub trait Fingerprint {
    /// A number that differs where the content does. Publishes with different contents make a checker that sees more.
    fn fingerprint(&self) -> u64;

    /// The key whose jobs keep their order, where the run claims an order by key.
    fn order_key(&self) -> Option<Cow<'_, str>> {
        None
    }
}

/// The fingerprint of bytes in parts; where one part ends and the next begins makes a difference.
///
/// 64-bit FNV-1a over each part and its length: the same number in every process and on every machine.
#[must_use]
pub fn fingerprint_of(parts: &[&[u8]]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    for part in parts {
        part.iter().copied().for_each(&mut add);
        if parts.len() > 1 {
            (part.len() as u64).to_le_bytes().into_iter().for_each(&mut add);
        }
    }
    hash
}

macro_rules! of_bytes {
    ($($type:ty => $bytes:expr),* $(,)?) => {
        $(impl Fingerprint for $type {
            fn fingerprint(&self) -> u64 {
                let bytes: fn(&Self) -> &[u8] = $bytes;
                fingerprint_of(&[bytes(self)])
            }
        })*
    };
}

of_bytes! {
    str => |text| text.as_bytes(),
    &'static str => |text| text.as_bytes(),
    String => |text| text.as_bytes(),
    Box<str> => |text| text.as_bytes(),
    [u8] => |bytes| bytes,
    Vec<u8> => |bytes| bytes,
    Bytes => |bytes| bytes,
}

macro_rules! of_numbers {
    ($($type:ty),*) => {
        $(impl Fingerprint for $type {
            fn fingerprint(&self) -> u64 {
                fingerprint_of(&[&self.to_le_bytes()])
            }
        })*
    };
}

of_numbers!(u8, u16, u32, u64, i32, i64);

impl Fingerprint for Routed {
    fn fingerprint(&self) -> u64 {
        fingerprint_of(&[self.kind.as_bytes(), &self.body])
    }
}

impl<T: Fingerprint + ?Sized> Fingerprint for std::sync::Arc<T> {
    fn fingerprint(&self) -> u64 {
        (**self).fingerprint()
    }

    fn order_key(&self) -> Option<Cow<'_, str>> {
        (**self).order_key()
    }
}
