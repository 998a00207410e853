//! What stands between a codec's crate and the type of a job.
//!
//! A [`Guard`] wraps each part that serde passes around, forwards everything, and adds three rules that hold for every format:
//!
//! 1. **Depth.** A value nests at most [`MAX_DEPTH`] deep. Each sequence, map, struct, tuple, enum, newtype and `Some` is one
//!    level: a format may spend no byte on some of them, so its own count, if it has one, would miss them.
//! 2. **Length.** A length that the body claims reserves little memory ahead, and elements that take no bytes are counted.
//! 3. **Silence.** What the type of the job objects to is put into words that hold nothing of the body.

mod access;
mod deserializer;
mod fault;
mod visitor;

use std::borrow::Cow;
use std::cell::Cell;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error};

use fault::Fault;

/// How deep a value nests at most: 128 levels, as in serde_json.
pub(super) const MAX_DEPTH: usize = 128;

/// How many elements a sequence or map reserves memory for before it has read them. A guess: it grows from there by doubling.
const MAX_RESERVED: usize = 4_096;

/// How many elements that take no bytes a body may hold. A guess: `Vec<()>` is no common job.
const MAX_EMPTY: usize = 65_536;

/// What one reading shares: its budget, and the last objection of the job's type.
pub(super) struct Watch {
    /// How many elements of sequences and maps may still follow.
    elements: Cell<usize>,
    objection: Cell<Option<Cow<'static, str>>>,
}

impl Watch {
    /// For a body of `bytes`.
    pub(super) const fn new(bytes: usize) -> Self {
        Self { elements: Cell::new(bytes.saturating_add(MAX_EMPTY)), objection: Cell::new(None) }
    }

    /// What the type of the job objected to. It holds nothing of the body.
    pub(super) fn into_objection(self) -> Option<Cow<'static, str>> {
        self.objection.into_inner()
    }

    /// An error in the codec's own type, which cannot carry the objection in a form that is safe to show.
    fn object<E: Error>(&self, objection: Cow<'static, str>) -> E {
        self.objection.set(Some(objection));
        E::custom("refused")
    }
}

/// Where in the value a guard stands.
#[derive(Clone, Copy)]
struct Place<'g> {
    watch: &'g Watch,
    /// How many levels may still follow.
    depth: usize,
    /// Whether the body says how many elements there are, rather than the type.
    counted: bool,
}

impl Place<'_> {
    /// One level further in.
    fn inside<E: Error>(mut self) -> Result<Self, E> {
        match self.depth.checked_sub(1) {
            Some(depth) => self.depth = depth,
            None => return Err(self.watch.object(format!("nested deeper than {MAX_DEPTH} levels").into())),
        }
        Ok(self)
    }

    /// One element or key more, unless it was the end.
    #[inline]
    fn count<T, E: Error>(&self, element: Option<T>) -> Result<Option<T>, Fault<E>> {
        if self.counted && element.is_some() {
            match self.watch.elements.get().checked_sub(1) {
                Some(left) => self.watch.elements.set(left),
                None => return Err(Fault::Job("more elements than the body has bytes for".into())),
            }
        }
        Ok(element)
    }
}

/// A deserializer, visitor, access or seed under the three rules.
pub(super) struct Guard<'g, T> {
    inner: T,
    place: Place<'g>,
}

impl<'g, J> Guard<'g, PhantomData<J>> {
    /// The seed of a whole job.
    pub(super) const fn job(watch: &'g Watch) -> Self {
        Self { inner: PhantomData, place: Place { watch, depth: MAX_DEPTH, counted: false } }
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Guard<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        let Self { inner: seed, place } = self;
        seed.deserialize(Guard { inner, place }).map_err(|fault| fault.lower(place.watch))
    }
}
