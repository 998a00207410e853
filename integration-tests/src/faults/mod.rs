//! Faults on purpose, for tests against real brokers.
//!
//! One tool a module, none of which knows another.
#![cfg_attr(target_os = "linux", doc = "")]
#![cfg_attr(target_os = "linux", doc = include_str!("../../../docs/fault-tools.md"))]

#[cfg(target_os = "linux")]
pub mod clock;
#[cfg(target_os = "linux")]
pub mod disk;
#[cfg(target_os = "linux")]
pub mod process;
pub mod proxy;
