//! The in-memory ring: a [`Worker`](queue_core::Worker) for jobs that live and die with the process.
//!
//! Users depend on the crate `queue`, which re-exports this one as its feature `memory`.
//!
//! How a job travels: [`Ring`] takes it under one lock (`state.rs`), it waits in order (`ready.rs` over `fifo.rs`) or for
//! its time (`delayed.rs`), a waiting request is called (`seats.rs`), takes a fair share, and wakes enqueuers that wait
//! for room (`senders.rs`). What ends badly is kept in `dead.rs`.

#![forbid(unsafe_code)]

mod builder;
mod dead;
mod delayed;
mod fifo;
mod operate;
mod payload;
mod ready;
mod ring;
mod seats;
mod senders;
mod state;
mod sync;
mod worker;

pub use builder::{InvalidRing, RingBuilder};
pub use payload::{Cloned, Mode, Moved, Own};
pub use ring::Ring;
