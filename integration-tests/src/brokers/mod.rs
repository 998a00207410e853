//! Brokers for tests, from nothing.
//!
//! A test asks for a broker and gets one, whatever the machine has: the one whose URL is in the environment, else a container where a
//! Docker engine answers, else a native server process of its own on a free loopback port, else an error that says what to install or set.
//! [`shared`] gives one broker a process, or a run under `cargo xtask test`; [`private`] a server that the test may kill, stop, freeze and
//! empty. Names of queues come from [`unique`]. What is started here is gone when the process is, however that ends.
//!
//! docs/testing.md tells the same to those who run the tests.

mod broker;
pub mod container;
mod error;
mod expect;
pub mod install;
mod kind;
mod locate;
mod native;
mod ports;
mod private;
pub mod probe;
mod settings;
mod shared;
mod unique;
mod wait;
mod watcher;

pub use broker::Broker;
pub use error::BrokerError;
pub use expect::{need, need_private};
pub use kind::{Kind, Server};
pub use native::Options;
pub use private::{Private, private};
pub use settings::{Road, SKIP, Settings};
pub use shared::{acquire, shared};
pub use unique::unique;
pub use wait::{Deadline, say};
