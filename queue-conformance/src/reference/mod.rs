//! A broker in this process, over the ring: what the suite is proven on.
//!
//! It has what real brokers have and the ring has not: consumers that share a queue and die one by one, leases, confirmations that get lost,
//! connections that are cut, a server that is away. It keeps every promise of the suite, unless it is told to break one
//! ([`broken`](crate::broken)). It is no broker for users: nothing in it outlives the process.
//!
//! `server.rs` is what all connections share, `line.rs` one queue, `link.rs` one connection, `consumer.rs` the worker with `publish.rs`,
//! `fetch.rs` and `settle.rs`, `operate.rs` what an operator asks, `backend.rs` the suite's hand on all that.

mod backend;
mod consumer;
mod fetch;
mod line;
mod link;
mod operate;
mod publish;
mod receipt;
mod server;
mod settle;

pub use backend::Reference;
pub use consumer::Consumer;
pub use receipt::Claim;
