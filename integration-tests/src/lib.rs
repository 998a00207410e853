//! Tests that need a real client or a real broker.

#![forbid(unsafe_code)]

pub mod fit;
