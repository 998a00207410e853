//! Workers with one planted fault each: what the suite must find.
//!
//! Each is the [`reference`](crate::reference) broker with one [`Defect`], a fault that a real backend has had or could have. It names the
//! rows of the suite that must fail on it; a suite in which they pass is broken itself.

mod list;
mod matrix;

pub use list::{Defect, MISBEHAVIOURS, Misbehaviour};
pub use matrix::{Findings, judge};
