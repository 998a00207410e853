//! What a run did, as a log of lines, and whether that keeps what a queue promises.
//!
//! A [`Recorder`] writes the log, a [`Recorded`] worker and a [recorded handler](Recorder::handler) tell it what happens, and
//! [`check`] reads it. The format stands in `docs/history-log.md`; the command `queue-history` checks a file of any origin.
//!
//! ```
//! use std::time::Duration;
//! use queue::{Context, Queue, Ring};
//! use queue_conformance::history::{Claims, Order, Recorded, Recorder};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let recorder = Recorder::in_memory(Claims::new().order(Order::Queue));
//! let queue = Queue::with_worker(Recorded::new(Ring::new(), &recorder))
//!     .start(recorder.handler(async |_: String, _: Context| ()))?;
//! queue.enqueue("a job".to_owned()).await?;
//! drop(queue.shutdown(Duration::from_secs(5)).await?);
//! let report = recorder.check()?;
//! assert!(report.holds(), "{report}");
//! assert_eq!(report.counts().acked, 1);
//! # Ok(()) }
//! ```

mod check;
mod claims;
mod event;
mod fingerprint;
mod gate;
mod handler;
mod read;
mod recorded;
mod recorder;
mod words;

pub use check::{Counts, Kind, Report, Violation, Violations, check};
pub use claims::{Acks, Claims, Order, VERSION};
pub use fingerprint::{Fingerprint, fingerprint_of};
pub use gate::{Step, gate_of};
pub use handler::RecordedRun;
pub use read::{LogError, MAX_LINE};
pub use recorded::{Noted, Recorded};
pub use recorder::{RecordError, Recorder};
pub use words::{End, Place, Why};
