//! A judge of workers: what they claim is tested, what they do is recorded, and what was recorded is checked.
//!
//! For whoever writes a backend. Implement [`Backend`] for it, call [`suite!`] in a test file, and each promise that a worker of this project
//! makes is a test of its own, named after its line in the list of behaviours:
//!
//! ```
//! use queue::Ring;
//! use queue_conformance::{AnyCodec, Backend, Job, Time};
//! use queue_core::WorkerError;
//!
//! struct Memory;
//!
//! impl Backend for Memory {
//!     type Worker = Ring<Job>;
//!
//!     async fn connect(&self, _queue: &str, _codec: AnyCodec) -> Result<Ring<Job>, WorkerError> {
//!         Ok(Ring::new())
//!     }
//!
//!     fn time(&self) -> Time {
//!         Time::Paused
//!     }
//! }
//!
//! # mod tests { use super::*;
//! queue_conformance::suite!(Memory);
//! # }
//! # fn main() {}
//! ```
//!
//! **Claims.** A row runs as far as the worker's [`Capabilities`](queue_core::Capabilities) reach: each claim is tested, what is not claimed must
//! be refused, and a row about something that is not claimed says so and passes ([`Outcome::Skipped`]).
//!
//! **Faults.** Many promises hold only if something goes wrong. What a test may do to the broker is an [`Operator`]; a row that
//! needs more than it offers is [`Outcome::Unproven`]: it is not counted as proof, and [`suite!`] wants it named.
//!
//! **Proof of the judge.** [`mod@reference`] is a broker in this process that keeps every promise, [`broken`] the same with one planted fault
//! each: the rows that a fault names must fail on it.

#![forbid(unsafe_code)]

mod backend;
pub mod broken;
mod codec;
pub mod history;
mod job;
mod markers;
pub mod processes;
pub mod reference;
mod run;
mod suite;

pub use backend::{Backend, Boxed, Fault, Markers, NotOffered, Operator, RawCounts, RawMessage, Time};
pub use codec::AnyCodec;
pub use job::Job;
#[doc(hidden)]
pub use queue_core as __core;
pub use run::{Outcome, Row, must_pass, run, run_all};
pub use suite::ROWS;

/// Makes a `#[test]` of each row for a backend: `suite!(MyBackend::new());` in a module of a test file is all that a backend needs.
///
/// The expression is evaluated anew for each row. A row that the worker's claims do not reach passes and says so in its output. One for which
/// the backend offers too little to tests fails, unless it is named: `suite!(MyBackend::new(), unproven: ["C-3", "C-44"])`. So what
/// is not proven stands in the open.
///
/// ```
/// # mod tests {
/// use queue_conformance::suite;
///
/// suite!(queue_conformance::reference::Reference::new());
/// # }
/// ```
#[macro_export]
macro_rules! suite {
    (@rows $then:ident $($with:tt)*) => {
        $crate::suite! { @$then [c_1 c_2 c_3 c_4 c_5 c_6 c_7 c_8 c_9 c_10 c_11 c_12 c_13 c_14 c_15 c_16 c_17 c_18 c_19 c_20 c_21 c_22 c_23 c_24 c_25 c_26 c_27 c_28 c_29 c_30 c_31 c_32 c_33 c_34 c_35 c_36 c_37 c_38 c_39 c_40 c_41 c_42 c_44 c_45 c_46] $($with)* }
    };
    (@names) => { $crate::suite! { @rows list } };
    (@list [$($row:ident)*]) => { [$(stringify!($row)),*] };
    (@tests [$($row:ident)*] $backend:expr; $unproven:tt) => {
        $(
            #[test]
            fn $row() {
                let id = stringify!($row).to_uppercase().replace('_', "-");
                $crate::must_pass(&id, || $backend, &$unproven);
            }
        )*
    };
    ($backend:expr $(, unproven: [$($unproven:literal),* $(,)?])?) => {
        $crate::suite! { @rows tests $backend; [$($($unproven),*)?] }
    };
}
