//! The ring in every interleaving: `cargo xtask models` runs these, with loom's locks in place of parking_lot's.
//!
//! Under each model is the whole ring as the engine uses it, through [`Worker`](queue_core::Worker): `state.rs`, `seats.rs`, `senders.rs` and
//! the futures of `worker.rs`. Its clock is ticked once, so that every stamp is the same and no call is late. Each
//! comment names the guard without which its model was seen to fail.
#![cfg(loom)]
#![allow(clippy::unwrap_used)]

mod common;

mod ending;
mod requests;
mod senders;
