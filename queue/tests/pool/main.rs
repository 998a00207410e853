//! A queue over the ring as a pool of workers for jobs of one type.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test, with tasks of its own")]

#[path = "../common_tokio/mod.rs"]
mod tokio;

mod cancel;
mod common;
mod end;
mod held;
mod jobs;
mod moves;
mod slots;
