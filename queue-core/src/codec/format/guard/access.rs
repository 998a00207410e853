//! The codec's way through sequences, maps and enums, guarded.

use serde::de::{DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};

use super::fault::Fault;
use super::{Guard, MAX_RESERVED};

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Guard<'_, A> {
    type Error = Fault<A::Error>;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Self::Error> {
        let element = self.inner.next_element_seed(Guard { inner: seed, place: self.place }).map_err(Fault::Codec)?;
        self.place.count(element)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint().map(|claimed| claimed.min(MAX_RESERVED))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Guard<'_, A> {
    type Error = Fault<A::Error>;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Self::Error> {
        let key = self.inner.next_key_seed(Guard { inner: seed, place: self.place }).map_err(Fault::Codec)?;
        self.place.count(key)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Self::Error> {
        self.inner.next_value_seed(Guard { inner: seed, place: self.place }).map_err(Fault::Codec)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint().map(|claimed| claimed.min(MAX_RESERVED))
    }
}

impl<'de, 'g, A: EnumAccess<'de>> EnumAccess<'de> for Guard<'g, A> {
    type Error = Fault<A::Error>;
    type Variant = Guard<'g, A::Variant>;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), Self::Error> {
        let place = self.place;
        let (value, inner) = self.inner.variant_seed(Guard { inner: seed, place }).map_err(Fault::Codec)?;
        Ok((value, Guard { inner, place }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Guard<'_, A> {
    type Error = Fault<A::Error>;

    #[inline]
    fn unit_variant(self) -> Result<(), Self::Error> {
        self.inner.unit_variant().map_err(Fault::Codec)
    }

    #[inline]
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Self::Error> {
        self.inner.newtype_variant_seed(Guard { inner: seed, place: self.place }).map_err(Fault::Codec)
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Self::Error> {
        self.inner.tuple_variant(len, Guard { inner: visitor, place: self.place }).map_err(Fault::Codec)
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.inner.struct_variant(fields, Guard { inner: visitor, place: self.place }).map_err(Fault::Codec)
    }
}
