//! What a user writes: an async function of a job.

mod blocking;
mod cancel;
mod context;
mod outcome;
#[cfg(feature = "tower")]
mod tower;

pub use blocking::{Blocking, BlockingRun, blocking};
pub use cancel::CancelReason;
pub use context::Context;
pub use outcome::{Error, HandlerResult, Outcome};
#[cfg(feature = "tower")]
pub use tower::{Served, Serving, ServingRun, service};

pub(crate) use cancel::CancelSignal;
pub(crate) use outcome::{Judgement, error_chain};

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use queue_core::{Capabilities, Cause, Meta};
use tokio::time::Instant;

use crate::builder::StartError;
use crate::policy::{Plan, Policy};
use crate::slot::Slot;

/// What a context is made from: by reference, so that a handler without one pays nothing.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "sealed: only the engine makes one")]
#[expect(unnameable_types, reason = "sealed: only the engine makes one")]
pub struct At<'a, S> {
    pub(crate) meta: &'a Meta,
    pub(crate) attempts: u32,
    pub(crate) fence: Option<u64>,
    pub(crate) times_out_at: Option<Instant>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) slot: &'a Arc<Slot>,
    pub(crate) state: &'a S,
    /// What holds for jobs that bring nothing along.
    pub(crate) policy: &'a Policy,
    /// How long ago the job was enqueued.
    pub(crate) age: &'a dyn Fn() -> Duration,
    /// Where a handler that [chooses](Handler::CHOOSES) leaves its choice.
    pub(crate) chosen: &'a mut Option<Chosen>,
}

impl<S> At<'_, S> {
    /// Counts the attempt. Before the handler starts: an attempt that kills the process was one.
    #[inline]
    pub(crate) fn count(&self) {
        self.slot.counters.started.add(1);
    }
}

/// What holds for one job, where its handler chooses that.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) plan: Plan,
    /// When the attempt times out, where it is timed from its start.
    pub(crate) ends: Option<Instant>,
}

/// What a handler may know before its queue starts.
#[doc(hidden)]
#[derive(Debug)]
#[expect(unnameable_types, reason = "sealed: only the engine makes one")]
pub struct Prepare<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) can: &'a Capabilities,
}

/// A handler of jobs `J` with state `S`: an `async fn`, a closure, [`blocking()`], [`Routes`](crate::Routes), or a tower
/// service in `service` (feature `tower`).
///
/// It takes the job, or the job and a [`Context<S>`], and returns `()`, `Result<(), E>` or [`Outcome`].
/// `M` tells the forms apart; it is always inferred.
#[diagnostic::on_unimplemented(
    message = "this is no handler for jobs of type `{J}` with state `{S}`",
    label = "not a handler",
    note = "a handler is `async fn(job: {J})` or `async fn(job: {J}, cx: Context<{S}>)`, or a closure of that form that returns a future",
    note = "what it shares comes from `.state(..)` through `cx.state()`, not from captured references",
    note = "for code that blocks or computes use `blocking(fn)`",
    note = "for a tower service use `service(svc)`, of the feature `tower`"
)]
pub trait Handler<M, J, S>: Send + Sync + 'static {
    /// What it returns: for `start` a [`HandlerResult`].
    type Output;
    /// The running handler: for `start` one that is `Send`.
    type Future: Future<Output = Self::Output>;
    /// Whether it wants to know when it started: a clock reading a job.
    #[doc(hidden)]
    const TIMED: bool = false;
    /// Whether it looks at each job, chooses what holds for it, and counts what it starts; else the engine does.
    #[doc(hidden)]
    const CHOOSES: bool = false;
    /// Checks itself before anything is spawned.
    #[doc(hidden)]
    fn prepare(&mut self, _: Prepare<'_>) -> Result<(), StartError> {
        Ok(())
    }
    /// Whether a running handler cannot be stopped by dropping it.
    #[doc(hidden)]
    #[must_use]
    fn is_stubborn(_: &Self::Future) -> bool {
        false
    }
    /// Starts a job, or says why it is dead without having started.
    #[doc(hidden)]
    fn call(&self, job: J, at: At<'_, S>) -> Result<Self::Future, Box<Cause>>;
}

/// A handler that can run: `start` asks for these bounds by themselves, so that the compiler says which of them is missing.
pub(crate) trait Runs<M, J, S>: Handler<M, J, S, Output: HandlerResult, Future: Send> {}

impl<H, M, J, S> Runs<M, J, S> for H where H: Handler<M, J, S, Output: HandlerResult, Future: Send> {}

/// The form `async fn(job)`.
#[doc(hidden)]
#[derive(Debug)]
#[expect(unnameable_types, reason = "a marker that is always inferred")]
pub struct Plain<Fut>(std::marker::PhantomData<Fut>);

/// The form `async fn(job, context)`.
#[doc(hidden)]
#[derive(Debug)]
#[expect(unnameable_types, reason = "a marker that is always inferred")]
pub struct WithContext<Fut>(std::marker::PhantomData<Fut>);

impl<F, Fut, J, S> Handler<Plain<Fut>, J, S> for F
where
    F: Fn(J) -> Fut + Send + Sync + 'static,
    Fut: Future,
{
    type Output = Fut::Output;
    type Future = Fut;

    #[inline]
    fn call(&self, job: J, _: At<'_, S>) -> Result<Fut, Box<Cause>> {
        Ok(self(job))
    }
}

impl<F, Fut, J, S> Handler<WithContext<Fut>, J, S> for F
where
    S: Clone,
    F: Fn(J, Context<S>) -> Fut + Send + Sync + 'static,
    Fut: Future,
{
    type Output = Fut::Output;
    type Future = Fut;
    const TIMED: bool = true;

    #[inline]
    fn call(&self, job: J, at: At<'_, S>) -> Result<Fut, Box<Cause>> {
        Ok(self(job, Context::new(&at)))
    }
}
