//! The visitor of the job's type, guarded.

use std::fmt;

use serde::de::{Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};

use super::Guard;
use super::fault::Fault;

/// Forwards a plain value.
macro_rules! forward {
    ($($method:ident($($value:ident: $type:ty)?);)*) => {$(
        #[inline]
        fn $method<E: Error>(self $(, $value: $type)?) -> Result<V::Value, E> {
            self.inner.$method::<Fault<E>>($($value)?).map_err(|fault| fault.lower(self.place.watch))
        }
    )*};
}

/// Forwards what holds further values, one level further in.
macro_rules! descend {
    ($($method:ident($bound:ident);)*) => {$(
        #[inline]
        fn $method<A: $bound<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
            let place = self.place.inside()?;
            self.inner.$method(Guard { inner, place }).map_err(|fault| fault.lower(place.watch))
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Guard<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    forward! {
        visit_bool(v: bool);
        visit_i8(v: i8);
        visit_i16(v: i16);
        visit_i32(v: i32);
        visit_i64(v: i64);
        visit_i128(v: i128);
        visit_u8(v: u8);
        visit_u16(v: u16);
        visit_u32(v: u32);
        visit_u64(v: u64);
        visit_u128(v: u128);
        visit_f32(v: f32);
        visit_f64(v: f64);
        visit_char(v: char);
        visit_str(v: &str);
        visit_borrowed_str(v: &'de str);
        visit_string(v: String);
        visit_bytes(v: &[u8]);
        visit_borrowed_bytes(v: &'de [u8]);
        visit_byte_buf(v: Vec<u8>);
        visit_none();
        visit_unit();
    }

    descend! {
        visit_some(Deserializer);
        visit_newtype_struct(Deserializer);
        visit_seq(SeqAccess);
        visit_map(MapAccess);
        visit_enum(EnumAccess);
    }
}
