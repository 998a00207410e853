//! The recorder and the checker: planted faults, a real engine, many processes, the command.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::missing_panics_doc)]

mod command;
mod engine;
mod faults;
mod format;
mod gates;
mod log;
mod processes;
mod rules;
