//! The job that the suite sends.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::history::{Fingerprint, fingerprint_of};

/// A job of the suite: a number that tells it apart, and bytes that must come back as they went.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Tells it apart within its queue.
    pub number: u64,
    /// What else it carries.
    pub bytes: Vec<u8>,
}

impl Job {
    /// A small job.
    #[must_use]
    pub fn new(number: u64) -> Self {
        Self { number, bytes: number.to_le_bytes().to_vec() }
    }

    /// A job that is nothing but bytes: what [`AnyCodec::Raw`](crate::AnyCodec::Raw) sends as they are.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self { number: 0, bytes: bytes.into() }
    }
}

impl Fingerprint for Job {
    fn fingerprint(&self) -> u64 {
        fingerprint_of(&[&self.number.to_le_bytes(), &self.bytes])
    }
}

/// Shows the size, never the bytes.
impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job {} of {} bytes", self.number, self.bytes.len())
    }
}
