//! A job queue: one async handler over an in-memory ring; over Redis Streams, RabbitMQ or Kafka once their workers are here.
//!
//! ```
//! use queue::{Queue, Retry, Ring};
//! use std::time::Duration;
//!
//! async fn send_email(to: String) -> Result<(), std::io::Error> {
//!     println!("sent to {to}");
//!     Ok(())
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let queue = Queue::with_worker(Ring::new())             // the only line that names a broker
//!     .slots(4)                                           // how many jobs run at once
//!     .retry(Retry::exponential(5))
//!     .timeout(Duration::from_secs(30))
//!     .start(send_email)?;
//! queue.enqueue("a@example.org".to_owned()).await?;
//! queue.job("b@example.org".to_owned()).delay(Duration::from_millis(1)).enqueue().await?;
//! let report = queue.shutdown(Duration::from_secs(10)).await?;
//! assert_eq!(report.stats().accepted, 2);
//! # Ok(()) }
//! ```
//!
//! A handler is a function or closure of one of these forms, and returns `()`, `Result<(), E>` or [`Outcome`]:
//!
//! | form | for |
//! |---|---|
//! | `async fn(job: J)` | most jobs |
//! | `async fn(job: J, cx: Context<S>)` | those that want state, the attempt, headers or the signal to stop: [`Context`] |
//! | [`blocking`]`(fn(job: J))`, `blocking(fn(job: J, cx: Context<S>))` | code that computes or blocks |
//! | [`Routes`]`::new().on("email", handler).on("report", handler)` | many job types in one queue |
//! | `service(tower service)`, with the feature `tower` | what has layers around it |
//!
//! Where to go:
//!
//! - the settings of a queue: [`Builder`]; of the ring: [`RingBuilder`]; of one job: [`JobBuilder`]
//! - enqueue from anywhere, naming no broker: [`Enqueuer`]; choose the broker at run time: [`DynWorker`]
//! - retries, dead letters, routes, shutdown and **every default in one table**: [`guide`]
//! - what is counted: [`Stats`]; write a worker for another broker: [`core`]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builder;
mod completion;
mod control;
mod engine;
mod enqueue;
#[cfg(any(doc, doctest))]
pub mod guide;
mod handler;
mod health;
mod log;
#[cfg(all(test, loom))]
mod models;
mod panic;
mod policy;
mod queue;
mod retry;
mod routes;
mod service;
mod shutdown;
mod slot;
mod stats;
mod sync;
mod watchdog;

#[cfg(feature = "memory")]
pub use backend_memory::{InvalidRing, Ring, RingBuilder};
pub use builder::{Builder, StartError};
pub use completion::{AttemptEnd, Completion, Fate};
pub use enqueue::{EnqueueError, EnqueueManyError, Enqueuer, ErasedJobBuilder, JobBuilder};
pub use handler::{Blocking, BlockingRun, CancelReason, Context, Error, Handler, HandlerResult, Outcome, blocking};
#[cfg(feature = "tower")]
pub use handler::{Served, Serving, ServingRun, service};
pub use health::{Health, HealthState};
pub use queue::{Queue, ResizeError};
pub use queue_core::{
    self as core, Backoff, Cancels, DeadLetter, DeadLetters, Delays, DynWorker, Event, Events, Headers, Inspection,
    Inspects, JobId, Leases, Page, Pauses, Priorities, Reason, Retries, Routed, Worker,
};
pub use retry::Retry;
pub use routes::{InvalidRoute, RouteOptions, RouteRun, Routes};
pub use service::{Group, GroupPart, GroupReport};
pub use shutdown::{OnShutdown, Report, ShutdownError, ShutdownHandle, Unrun};
pub use stats::Stats;

/// Compiles every code block of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
