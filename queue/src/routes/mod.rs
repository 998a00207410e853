//! Many job types in one queue: a handler for each.

mod error;
mod options;
mod route;

pub use error::InvalidRoute;
pub use options::RouteOptions;
pub use route::RouteRun;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use queue_core::codec::Codec;
#[cfg(feature = "json")]
use queue_core::codec::Json;
use queue_core::{Cause, Feature, Reason, Routed};

use crate::builder::StartError;
use crate::handler::{At, Chosen, Handler, HandlerResult, Outcome, Prepare};
use crate::policy::Policy;
use options::Limits;
use route::{AnyRoute, Route};

/// Handlers by the kind of the job: the handler of a queue whose jobs are [`Routed`].
///
/// Each has a job type of its own, in JSON unless its [options](RouteOptions) say otherwise, and any form that
/// [`start`](crate::Builder::start) takes; all share the queue's slots and its state `S`.
///
/// ```
/// use queue::{Context, Queue, Retry, Ring, Routed, RouteOptions, Routes};
/// use std::time::Duration;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Email { to: String }
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Report { month: u8 }
///
/// async fn send_email(email: Email) {
///     println!("to {}", email.to);
/// }
/// async fn make_report(report: Report, cx: Context) -> Result<(), std::io::Error> {
///     println!("month {}, attempt {} of {}", report.month, cx.attempt(), cx.attempts());
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let long = RouteOptions::new().retry(Retry::none()).timeout(Duration::from_secs(600));
/// let routes = Routes::new().on("email", send_email).on_with("report", long, make_report);
/// let queue = Queue::with_worker(Ring::new()).start(routes)?;
///
/// queue.enqueue(Routed::json("email", &Email { to: "a@example.org".into() })?).await?;
/// queue.job(Routed::json("report", &Report { month: 7 })?).header("asked-by", "b").priority(1).enqueue().await?;
/// let report = queue.shutdown(Duration::from_secs(5)).await?;
/// assert_eq!(report.stats().done, 2);
/// # Ok(()) }
/// ```
///
/// - A job of a kind that no route is for is dead, as [`Reason::NoHandler`]; one whose body is no job of its route is
///   dead, as [`Reason::Undecodable`]. Neither was started.
/// - What is set on the job wins over the route, and the route over the queue.
/// - A kind is found by one hash lookup, however many there are. An attempt allocates the box of its future, and what
///   decoding does.
#[must_use = "routes run once a queue starts with them"]
pub struct Routes<S = ()> {
    table: HashMap<Box<str>, Branch<S>>,
    /// The first route that makes no sense.
    fault: Option<(Box<str>, InvalidRoute)>,
}

/// A route in the table: small, for there may be a million.
struct Branch<S> {
    route: Box<dyn AnyRoute<S>>,
    limits: Option<Box<Limits>>,
    /// What holds for its jobs, where that is not what holds for the queue's. From the start on.
    policy: Option<Box<Policy>>,
}

impl<S: 'static> Routes<S> {
    /// No routes: at least one is to follow.
    pub fn new() -> Self {
        Self { table: HashMap::new(), fault: None }
    }

    /// Jobs of `kind`, in JSON, are for `handler`, with the settings of the queue.
    ///
    /// Each kind has one handler. A second one is an error of [`start`](crate::Builder::start), as is a kind without a
    /// name.
    #[cfg(feature = "json")]
    pub fn on<T, H, M>(self, kind: impl Into<Box<str>>, handler: H) -> Self
    where
        T: 'static,
        Json: Codec<T>,
        H: Handler<M, T, S, Output: HandlerResult, Future: Send>,
        M: 'static,
    {
        self.on_with(kind, RouteOptions::new(), handler)
    }

    /// As `on`, with another codec or settings of its own.
    ///
    /// ```
    /// # use queue::{RouteOptions, Routes, blocking};
    /// # use std::time::Duration;
    /// let routes = Routes::new()
    ///     .on_with("thumbnail", RouteOptions::new().timeout(Duration::from_secs(20)), blocking(|path: String| println!("{path}")));
    /// # let routes: Routes = routes; drop(routes);
    /// ```
    pub fn on_with<T, C, H, M>(self, kind: impl Into<Box<str>>, options: RouteOptions<C>, handler: H) -> Self
    where
        T: 'static,
        C: Codec<T>,
        H: Handler<M, T, S, Output: HandlerResult, Future: Send>,
        M: 'static,
    {
        let RouteOptions { codec, limits } = options;
        self.insert(kind.into(), limits, Box::new(Route::new(handler, codec)))
    }

    fn insert(mut self, kind: Box<str>, limits: Limits, route: Box<dyn AnyRoute<S>>) -> Self {
        let fault = if kind.is_empty() { Err(InvalidRoute::Unnamed) } else { limits.validate() };
        let fault = match self.table.entry(kind.clone()) {
            Entry::Occupied(_) => Err(InvalidRoute::Duplicate),
            Entry::Vacant(place) => {
                let limits = (!limits.is_empty()).then(|| Box::new(limits));
                place.insert(Branch { route, limits, policy: None });
                fault
            }
        };
        if let Err(fault) = fault {
            self.fault.get_or_insert((kind, fault));
        }
        self
    }
}

impl<S: 'static> Default for Routes<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> fmt::Debug for Routes<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routes").field("kinds", &self.table.len()).field("fault", &self.fault).finish_non_exhaustive()
    }
}

/// The form `Routes`.
#[doc(hidden)]
#[derive(Debug)]
#[expect(unnameable_types, reason = "a marker that is always inferred")]
pub struct ByKind;

#[diagnostic::do_not_recommend]
impl<S: 'static> Handler<ByKind, Routed, S> for Routes<S> {
    type Output = Outcome;
    type Future = RouteRun;
    const CHOOSES: bool = true;

    fn prepare(&mut self, queue: Prepare<'_>) -> Result<(), StartError> {
        if let Some((kind, source)) = self.fault.take() {
            return Err(StartError::Route { kind, source });
        }
        if self.table.is_empty() {
            return Err(StartError::NoRoutes);
        }
        for (kind, branch) in &mut self.table {
            if let Some(limits) = branch.limits.take() {
                if limits.retries() && !queue.can.has(Feature::Retries) {
                    let source = InvalidRoute::Unsupported { backend: queue.can.backend, feature: Feature::Retries };
                    return Err(StartError::Route { kind: kind.clone(), source });
                }
                let Limits { retry, timeout, deadline } = *limits;
                branch.policy = Some(Box::new(queue.policy.with(retry, timeout, deadline, queue.can)));
            }
            let policy = branch.policy.as_deref().unwrap_or(queue.policy);
            branch.route.prepare(Prepare { policy, can: queue.can })?;
        }
        Ok(())
    }

    fn is_stubborn(run: &RouteRun) -> bool {
        run.is_stubborn()
    }

    fn call(&self, job: Routed, at: At<'_, S>) -> Result<RouteRun, Box<Cause>> {
        let Some(branch) = self.table.get(job.kind.as_str()) else { return Err(no_handler(&job.kind)) };
        let policy = branch.policy.as_deref().unwrap_or(at.policy);
        let plan = policy.plan_of(at.meta, at.age);
        if let Some(cause) = plan.never_starts(at.meta.attempt) {
            return Err(Box::new(cause));
        }
        let ends = if branch.route.is_timed() { plan.ends() } else { None };
        *at.chosen = Some(Chosen { plan, ends });
        let at = At { attempts: plan.attempts, times_out_at: ends, deadline: plan.deadline, policy, ..at };
        branch.route.call(&job, at)
    }
}

/// How much of a kind is shown: it comes from whoever produces.
const SHOWN: usize = 100;

#[cold]
fn no_handler(kind: &str) -> Box<Cause> {
    let mut rest = kind.chars();
    let shown: String = rest.by_ref().take(SHOWN).collect();
    let more = if rest.next().is_some() { "…" } else { "" };
    let error = format!("no handler for `{}{more}`", shown.escape_debug());
    Box::new(Cause { reason: Reason::NoHandler, error: error.into() })
}
