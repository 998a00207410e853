//! The codec's deserializer, guarded.

use serde::de::{Deserializer, Visitor};

use super::fault::Fault;
use super::{Guard, Place};

/// Forwards a method, with the visitor guarded.
macro_rules! forward {
    ($($method:ident => $inner:ident ($($arg:ident: $type:ty),*) $(counted: $counted:literal)?;)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self $(, $arg: $type)*, visitor: V) -> Result<V::Value, Self::Error> {
            let place = Place { counted: false $(|| $counted)?, ..self.place };
            self.inner.$inner($($arg,)* Guard { inner: visitor, place }).map_err(Fault::Codec)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Guard<'_, D> {
    type Error = Fault<D::Error>;

    forward! {
        deserialize_any => deserialize_any();
        deserialize_bool => deserialize_bool();
        deserialize_i8 => deserialize_i8();
        deserialize_i16 => deserialize_i16();
        deserialize_i32 => deserialize_i32();
        deserialize_i64 => deserialize_i64();
        deserialize_i128 => deserialize_i128();
        deserialize_u8 => deserialize_u8();
        deserialize_u16 => deserialize_u16();
        deserialize_u32 => deserialize_u32();
        deserialize_u64 => deserialize_u64();
        deserialize_u128 => deserialize_u128();
        deserialize_f32 => deserialize_f32();
        deserialize_f64 => deserialize_f64();
        deserialize_char => deserialize_char();
        deserialize_str => deserialize_str();
        // Borrowed from the body: bincode would allocate as many bytes as the body claims before it looks whether they are there.
        deserialize_string => deserialize_str();
        deserialize_bytes => deserialize_bytes();
        deserialize_byte_buf => deserialize_bytes();
        deserialize_option => deserialize_option();
        deserialize_unit => deserialize_unit();
        deserialize_unit_struct => deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct => deserialize_newtype_struct(name: &'static str);
        deserialize_seq => deserialize_seq() counted: true;
        deserialize_tuple => deserialize_tuple(len: usize);
        deserialize_tuple_struct => deserialize_tuple_struct(name: &'static str, len: usize);
        deserialize_map => deserialize_map() counted: true;
        deserialize_struct => deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_enum => deserialize_enum(name: &'static str, variants: &'static [&'static str]);
        deserialize_identifier => deserialize_identifier();
        deserialize_ignored_any => deserialize_ignored_any();
    }

    #[inline]
    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}
