//! The ring at the level of its contract: no engine, a topic a file.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

mod cancel;
mod capacity;
mod cells;
mod common;
mod dead;
mod drops;
mod ending;
mod model;
mod once;
mod order;
mod pause;
mod request;
mod senders;
mod time;
