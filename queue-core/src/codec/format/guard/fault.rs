//! Errors that hold nothing of the body.

use std::borrow::Cow;
use std::fmt::{self, Display};

use serde::de::{Error, Expected, StdError, Unexpected};

use super::Watch;

/// What went wrong while a value was read: the codec's own error, or what the type of the job objected to.
///
/// serde's own words show the value that was found. These show what kind of value it was, and what the type wants.
#[derive(Debug)]
pub(in super::super) enum Fault<E> {
    /// The codec's.
    Codec(E),
    /// The type's, in words that are safe to show.
    Job(Cow<'static, str>),
}

impl<E: Error> Fault<E> {
    /// Back into the codec's error, with the objection left on `watch`.
    pub(super) fn lower(self, watch: &Watch) -> E {
        match self {
            Self::Codec(error) => error,
            Self::Job(objection) => watch.object(objection),
        }
    }
}

impl<E: Error> Error for Fault<E> {
    fn custom<T: Display>(_message: T) -> Self {
        // Whoever wrote the message may have put the value into it.
        Self::Job("the type of the job refuses a value".into())
    }

    fn invalid_type(found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::Job(format!("found {}, expected {wanted}", kind_of(found)).into())
    }

    fn invalid_value(found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::Job(format!("found {} of another value, expected {wanted}", kind_of(found)).into())
    }

    fn invalid_length(found: usize, wanted: &dyn Expected) -> Self {
        Self::Job(format!("found {found} elements, expected {wanted}").into())
    }

    fn unknown_variant(_found: &str, known: &'static [&'static str]) -> Self {
        Self::Job(format!("unknown variant, known are: {}", known.join(", ")).into())
    }

    fn unknown_field(_found: &str, known: &'static [&'static str]) -> Self {
        Self::Job(format!("unknown field, known are: {}", known.join(", ")).into())
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Job(format!("the field `{field}` is missing").into())
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::Job(format!("the field `{field}` occurs twice").into())
    }
}

impl<E: Error> StdError for Fault<E> {}

impl<E: Error> Display for Fault<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Code of the job's type can print it, and a codec's error may show the value.
            Self::Codec(_) => f.write_str("the body is malformed"),
            Self::Job(objection) => f.write_str(objection),
        }
    }
}

const fn kind_of(found: Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "a boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "an integer",
        Unexpected::Float(_) => "a floating point number",
        Unexpected::Char(_) => "a character",
        Unexpected::Str(_) => "a string",
        Unexpected::Bytes(_) => "bytes",
        Unexpected::Unit => "a null",
        Unexpected::Option => "an option",
        Unexpected::NewtypeStruct => "a newtype",
        Unexpected::Seq => "a sequence",
        Unexpected::Map => "a map",
        Unexpected::Enum => "an enum",
        Unexpected::UnitVariant => "a variant without data",
        Unexpected::NewtypeVariant | Unexpected::TupleVariant | Unexpected::StructVariant => "a variant with data",
        Unexpected::Other(_) => "something else",
    }
}
