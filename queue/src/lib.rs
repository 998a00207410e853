//! A job queue: one async handler over an in-memory ring, Redis Streams, RabbitMQ or Kafka.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builder;
mod control;
mod engine;
mod enqueue;
mod handler;
mod panic;
mod policy;
mod queue;
mod retry;
mod shutdown;
mod slot;
mod stats;
mod watchdog;

#[cfg(feature = "memory")]
pub use backend_memory::{InvalidRing, Ring, RingBuilder};
pub use builder::{Builder, StartError};
pub use enqueue::{EnqueueError, EnqueueManyError, Enqueuer, ErasedJobBuilder, JobBuilder};
pub use handler::{Blocking, BlockingRun, CancelReason, Context, Error, Handler, HandlerResult, Outcome, blocking};
pub use queue::{Queue, ResizeError};
pub use queue_core::{
    self as core, Backoff, Cancels, DeadLetter, DeadLetters, Delays, DynWorker, Headers, Inspection, Inspects, JobId,
    Leases, Page, Pauses, Priorities, Reason, Retries, Routed, Worker,
};
pub use retry::Retry;
pub use shutdown::{OnShutdown, Report, ShutdownError, Unrun};
pub use stats::Stats;
