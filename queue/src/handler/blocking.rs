//! Handlers that block their thread.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, ready};

use queue_core::Cause;
use tokio::task::JoinHandle;

use super::{At, Context, Handler};
use crate::panic::{self, Location};

/// A handler for code that computes or blocks: each job runs on a thread of the runtime's blocking pool.
///
/// It cannot be stopped half way. When its attempt times out the job is settled as timed out, but the slot stays taken
/// until the function returns, so that never more than `slots` run; what it then returns is logged and changes nothing.
///
/// ```
/// # use queue::{blocking, Queue, Ring};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let queue = Queue::with_worker(Ring::new())
///     .start(blocking(|path: String| std::fs::read(path).map(|bytes| println!("{} bytes", bytes.len()))))?;
/// # drop(queue.shutdown(std::time::Duration::ZERO).await?); Ok(()) }
/// ```
pub fn blocking<F>(handler: F) -> Blocking<F> {
    Blocking(Arc::new(handler))
}

/// A handler made by [`blocking`].
#[derive(Debug)]
pub struct Blocking<F>(Arc<F>);

/// A blocking handler as it runs.
#[derive(Debug)]
pub struct BlockingRun<R>(JoinHandle<std::thread::Result<R>>, Arc<parking_lot::Mutex<Option<Location>>>);

impl<R: Send + 'static> BlockingRun<R> {
    fn start(run: impl FnOnce() -> R + Send + 'static) -> Self {
        let place = Arc::new(parking_lot::Mutex::new(None));
        let theirs = place.clone();
        let handle = tokio::task::spawn_blocking(move || {
            catch_unwind(AssertUnwindSafe(run)).inspect_err(|_| *theirs.lock() = panic::take_location())
        });
        Self(handle, place)
    }
}

impl<R> Future for BlockingRun<R> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<R> {
        match ready!(Pin::new(&mut self.0).poll(cx)) {
            Ok(Ok(output)) => Poll::Ready(output),
            Ok(Err(payload)) => {
                panic::put_location(self.1.lock().take());
                resume_unwind(payload)
            }
            // The runtime ends before the function began: nobody will poll this again.
            Err(_) => Poll::Pending,
        }
    }
}

/// The form `blocking(fn(job))`.
#[doc(hidden)]
#[derive(Debug)]
#[expect(unnameable_types, reason = "a marker that is always inferred")]
pub struct BlockingPlain<R>(std::marker::PhantomData<R>);

/// The form `blocking(fn(job, context))`.
#[doc(hidden)]
#[derive(Debug)]
#[expect(unnameable_types, reason = "a marker that is always inferred")]
pub struct BlockingWithContext<R>(std::marker::PhantomData<R>);

#[diagnostic::do_not_recommend]
impl<F, R, J, S> Handler<BlockingPlain<R>, J, S> for Blocking<F>
where
    J: Send + 'static,
    F: Fn(J) -> R + Send + Sync + 'static,
    R: Send + 'static,
{
    type Output = R;
    type Future = BlockingRun<R>;

    fn is_stubborn(_: &BlockingRun<R>) -> bool {
        true
    }

    fn call(&self, job: J, _: At<'_, S>) -> Result<BlockingRun<R>, Box<Cause>> {
        let handler = self.0.clone();
        Ok(BlockingRun::start(move || handler(job)))
    }
}

#[diagnostic::do_not_recommend]
impl<F, R, J, S> Handler<BlockingWithContext<R>, J, S> for Blocking<F>
where
    J: Send + 'static,
    S: Clone + Send + 'static,
    F: Fn(J, Context<S>) -> R + Send + Sync + 'static,
    R: Send + 'static,
{
    type Output = R;
    type Future = BlockingRun<R>;
    const TIMED: bool = true;

    fn is_stubborn(_: &BlockingRun<R>) -> bool {
        true
    }

    fn call(&self, job: J, at: At<'_, S>) -> Result<BlockingRun<R>, Box<Cause>> {
        let (handler, context) = (self.0.clone(), Context::new(&at));
        Ok(BlockingRun::start(move || handler(job, context)))
    }
}
