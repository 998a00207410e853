//! Tests that need a real client or a real broker.

#![forbid(unsafe_code)]

#[cfg(unix)]
pub mod brokers;
#[cfg(unix)]
pub mod faults;
pub mod fit;
