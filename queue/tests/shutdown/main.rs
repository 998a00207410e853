//! How a queue ends, what its report says, and what its counts show meanwhile: on the ring, and on a worker that behaves
//! like a broker.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test, with tasks of its own")]

#[path = "../common_tokio/mod.rs"]
mod tokio;

mod callers;
mod common;
mod crowd;
mod deadline;
mod erased;
mod hostile;
mod inside;
mod last_handle;
mod living;
mod order;
mod races;
mod report;
mod stats;
