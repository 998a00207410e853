//! Faults on purpose, for tests against real brokers.
//!
//! One tool a file, none of which knows another: [`proxy`] breaks a connection, [`process`] stops and kills, [`disk`] fills up and [`clock`]
//! is wrong by an hour.

#[cfg(target_os = "linux")]
pub mod clock;
#[cfg(target_os = "linux")]
pub mod disk;
#[cfg(target_os = "linux")]
pub mod process;
pub mod proxy;
