//! Measures the queue, and the floors below which nothing built on a lock and a ring can go on the machine it runs on.
//!
//! `cargo xtask bench` builds and runs the programs in `src/bin`, judges what they print, and explains it
//! (`docs/performance.md`). A program measures one subject, in shapes that only differ in what is passed at run time: `measure.rs` takes
//! clean runs between two readings of the row's floor (`floors.rs`), `noise.rs` says which runs are clean, `alloc.rs`
//! counts allocations, `engine.rs` is one run of a whole queue and `jobs.rs` what it runs.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a bench talks through its output, and ends where it cannot go on"
)]

mod alloc;
mod engine;
pub mod floors;
pub mod jobs;
mod measure;
mod noise;
mod options;

pub use engine::{CAPACITY, Runtimes, Shape, Subject, engine, ring, rows};
pub use floors::Floor;
pub use measure::{Row, Waits, measure, measure_waits};
pub use options::Options;

/// The exact time.
#[inline]
#[must_use]
pub fn now() -> std::time::Instant {
    #[expect(clippy::disallowed_methods, reason = "no clock is paused here, and the real time is what is measured")]
    std::time::Instant::now()
}
