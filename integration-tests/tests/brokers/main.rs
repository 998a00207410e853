//! The brokers of the tests: that each road leads to one, that a test can break its own, and that nothing is left behind.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says by a panic what does not hold")]

mod containers;
mod errors;
mod faults;
mod leftovers;
mod raw;
mod smoke;
