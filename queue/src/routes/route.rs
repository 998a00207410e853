//! One route, whatever its job type is.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use queue_core::codec::Codec;
use queue_core::{Cause, Reason, Routed, Undecodable};

use crate::builder::StartError;
use crate::handler::{At, Handler, HandlerResult, Outcome, Prepare};

/// A route without its types.
pub(super) trait AnyRoute<S>: Send + Sync {
    /// As [`Handler::TIMED`].
    fn is_timed(&self) -> bool;
    /// As [`Handler::prepare`].
    fn prepare(&mut self, queue: Prepare<'_>) -> Result<(), StartError>;
    /// As [`Handler::call`].
    fn call(&self, job: &Routed, at: At<'_, S>) -> Result<RouteRun, Box<Cause>>;
}

/// A handler of jobs `T` in the form `M`, and how they are read.
pub(super) struct Route<H, C, M, T> {
    handler: H,
    codec: C,
    marker: PhantomData<fn() -> (M, T)>,
}

impl<H, C, M, T> Route<H, C, M, T> {
    pub(super) const fn new(handler: H, codec: C) -> Self {
        Self { handler, codec, marker: PhantomData }
    }
}

impl<H, C, M, T, S> AnyRoute<S> for Route<H, C, M, T>
where
    M: 'static,
    T: 'static,
    S: 'static,
    C: Codec<T>,
    H: Handler<M, T, S, Output: HandlerResult, Future: Send>,
{
    fn is_timed(&self) -> bool {
        H::TIMED
    }

    fn prepare(&mut self, queue: Prepare<'_>) -> Result<(), StartError> {
        self.handler.prepare(queue)
    }

    fn call(&self, job: &Routed, at: At<'_, S>) -> Result<RouteRun, Box<Cause>> {
        // A codec of the user's may panic, as it may on a broker: the body is still there, and becomes a dead letter.
        let decoded = catch_unwind(AssertUnwindSafe(|| job.decode(&self.codec)));
        let decoded = decoded.unwrap_or_else(|_| Err(Undecodable("the codec panicked".into())));
        let job = decoded.map_err(|why| Box::new(Cause { reason: Reason::Undecodable, error: why.0 }))?;
        if !H::CHOOSES {
            at.count();
        }
        let future = self.handler.call(job, at)?;
        let stubborn = H::is_stubborn(&future);
        Ok(RouteRun { future: Box::pin(future), stubborn })
    }
}

/// A running handler, whatever it returns.
trait AnyRun: Send {
    fn poll_run(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome>;
}

impl<F: Future<Output: HandlerResult> + Send> AnyRun for F {
    fn poll_run(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        self.poll(cx).map(HandlerResult::into_outcome)
    }
}

/// The handler of a route as it runs.
pub struct RouteRun {
    future: Pin<Box<dyn AnyRun>>,
    stubborn: bool,
}

impl RouteRun {
    pub(super) const fn is_stubborn(&self) -> bool {
        self.stubborn
    }
}

impl Future for RouteRun {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        self.future.as_mut().poll_run(cx)
    }
}

impl fmt::Debug for RouteRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouteRun").field("stubborn", &self.stubborn).finish_non_exhaustive()
    }
}
