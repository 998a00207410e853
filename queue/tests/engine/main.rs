//! The engine: start, enqueue, slots, what handlers answer, retry, timeout, panic; over the ring and over a broker-like worker.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, unreachable_pub)]

#[path = "../common_tokio/mod.rs"]
mod tokio;

mod common;

mod clock_jumps;
mod contained;
mod context;
mod dropped;
mod enqueue;
mod enqueue_room;
mod health;
mod hooks;
mod leases;
mod listeners;
mod logs;
mod many_slots;
mod on_broker;
mod on_broker_faults;
mod options;
mod panics;
mod requests;
mod results;
mod retry;
mod retry_waits;
mod routes;
mod routes_options;
mod routes_start;
mod side_by_side;
mod slots;
mod spans;
mod start;
mod timeout;
mod timeout_blocking;
#[cfg(feature = "tower")]
mod tower;
