//! Handlers that are tower services.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use queue_core::Cause;
use tower_service::Service;

use super::outcome::{BoxError, Judgement};
use super::{At, Handler, HandlerResult, Outcome};

/// A handler that is a tower `Service` of the job, with all the layers that are around it.
///
/// Its response is `()` or [`Outcome`](crate::Outcome), and its error what any handler's may be: both are judged as what
/// a function returns. Each attempt has a clone of its own, and waits until that is ready: this wait is part of the
/// attempt, so its timeout and a shutdown end it, and it keeps the slot.
///
/// A layer that boxes the errors of its service, as `Buffer` and `Timeout` do, hides which of them are
/// [permanent](crate::Error::permanent). Answer [`Outcome::failed`](crate::Outcome::failed) inside of such a layer.
///
/// ```
/// # use queue::{service, Queue, Ring};
/// # use std::{convert::Infallible, time::Duration};
/// use tower::{ServiceBuilder, service_fn};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Sixteen jobs may run, and no more than two of them talk to the printer.
/// let print = ServiceBuilder::new().concurrency_limit(2).service_fn(async |page: String| {
///     println!("{page}");
///     Ok::<(), Infallible>(())
/// });
/// let queue = Queue::with_worker(Ring::new()).slots(16).start(service(print))?;
/// queue.enqueue("first page".to_owned()).await?;
/// let report = queue.shutdown(Duration::from_secs(5)).await?;
/// assert_eq!(report.stats().done, 1);
/// # Ok(()) }
/// ```
pub fn service<Svc: Clone + Send + Sync + 'static>(service: Svc) -> Serving<Svc> {
    Serving(service)
}

/// What a service answered: the response is judged as what a function returns, and so is the error.
#[derive(Debug)]
pub struct Served<R, E>(Result<R, E>);

#[diagnostic::do_not_recommend]
impl<R: HandlerResult, E: Into<BoxError> + Send + 'static> HandlerResult for Served<R, E> {
    const SNOOZES: bool = R::SNOOZES;

    #[inline]
    fn judge(&self) -> Judgement {
        match &self.0 {
            Ok(response) => response.judge(),
            Err(error) => Judgement::of_error(error),
        }
    }

    fn into_error(self) -> Option<BoxError> {
        match self.0 {
            Ok(response) => response.into_error(),
            Err(error) => Some(error.into()),
        }
    }

    fn into_outcome(self) -> Outcome {
        match self.0 {
            Ok(response) => response.into_outcome(),
            Err(error) => Outcome::of_error(error),
        }
    }
}

/// A handler made by [`service`](service()).
#[derive(Clone)]
pub struct Serving<Svc>(Svc);

impl<Svc> fmt::Debug for Serving<Svc> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").finish_non_exhaustive()
    }
}

pin_project! {
    /// A service as it runs.
    pub struct ServingRun<Svc, J>
    where
        Svc: Service<J>,
    {
        // The clone and the job, until the clone is ready.
        waiting: Option<(Svc, J)>,
        #[pin]
        running: Option<Svc::Future>,
    }
}

impl<Svc: Service<J>, J> Future for ServingRun<Svc, J> {
    type Output = Served<Svc::Response, Svc::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Some((service, _)) = this.waiting {
            if let Err(error) = ready!(service.poll_ready(cx)) {
                return Poll::Ready(Served(Err(error)));
            }
            if let Some((mut service, job)) = this.waiting.take() {
                this.running.set(Some(service.call(job)));
            }
        }
        match this.running.as_pin_mut() {
            Some(running) => running.poll(cx).map(Served),
            // Either it waits or it runs, while it is polled.
            None => Poll::Pending,
        }
    }
}

impl<Svc: Service<J>, J> fmt::Debug for ServingRun<Svc, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServingRun").field("is_ready", &self.waiting.is_none()).finish_non_exhaustive()
    }
}

/// The form `service(tower service)`.
#[doc(hidden)]
#[derive(Debug)]
#[expect(unnameable_types, reason = "a marker that is always inferred")]
pub struct ByService;

#[diagnostic::do_not_recommend]
impl<Svc, J, S> Handler<ByService, J, S> for Serving<Svc>
where
    Svc: Service<J> + Clone + Send + Sync + 'static,
{
    type Output = Served<Svc::Response, Svc::Error>;
    type Future = ServingRun<Svc, J>;

    fn call(&self, job: J, _: At<'_, S>) -> Result<Self::Future, Box<Cause>> {
        Ok(ServingRun { waiting: Some((self.0.clone(), job)), running: None })
    }
}
