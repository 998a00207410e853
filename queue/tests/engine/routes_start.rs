//! Routes that make no sense are refused by name before anything is spawned; a million of them are fine.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::tokio;
use queue::core::Feature;
use queue::{Builder, InvalidRoute, Queue, Retry, Ring, RouteOptions, Routed, Routes, StartError};
use tokio::runtime::Handle;

use crate::common::{end, ms, until};

fn builder() -> Builder<Ring<Routed>> {
    Queue::with_worker(Ring::new()).slots(3)
}

/// A route `odd` with these options, between two that are fine.
fn with(options: RouteOptions<queue::core::Json>) -> Routes {
    Routes::new().on("fine", nothing).on_with("odd", options, nothing).on("also fine", nothing)
}

async fn nothing(_: u32) {}

/// E-4, E-102
#[tokio::test(start_paused = true)]
async fn routes_that_make_no_sense_are_named_and_spawn_nothing() {
    let before = Handle::current().metrics().num_alive_tasks();
    let fault = |routes: Routes, name: &str| {
        let builder = builder();
        let enqueuer = builder.enqueuer();
        let error = builder.start(routes).unwrap_err();
        assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
        assert!(error.source().is_some());
        let StartError::Route { kind, source } = error else { panic!("{error}") };
        assert_eq!(&*kind, name);
        (source, enqueuer)
    };
    let options = RouteOptions::new;
    assert_eq!(fault(with(options().timeout(Duration::ZERO)), "odd").0, InvalidRoute::TimeoutZero);
    assert_eq!(fault(with(options().deadline(Duration::ZERO)), "odd").0, InvalidRoute::DeadlineZero);
    for retry in [Retry::exponential(1).factor(f64::NAN), Retry::exponential(0).base(ms(11)).max(ms(10))] {
        let (fault, _) = fault(with(options().retry(retry)), "odd");
        assert!(matches!(fault, InvalidRoute::Backoff(_)), "{fault}");
    }
    assert_eq!(fault(with(options()).on("odd", nothing), "odd").0, InvalidRoute::Duplicate);
    assert_eq!(fault(with(options()).on("", nothing), "").0, InvalidRoute::Unnamed);
    // The first fault is told.
    let two = with(options().timeout(Duration::ZERO)).on("fine", nothing);
    let (first, enqueuer) = fault(two, "odd");
    assert_eq!(first, InvalidRoute::TimeoutZero);
    let closed = enqueuer.enqueue(Routed::json("fine", &1).unwrap()).await.unwrap_err();
    assert!(matches!(closed, queue::EnqueueError::Closed(_)), "{closed}");

    assert!(matches!(builder().start(Routes::new()).unwrap_err(), StartError::NoRoutes));
    assert_eq!(Handle::current().metrics().num_alive_tasks(), before);
}

/// E-102: what a worker cannot do is refused for the route that asks for it.
#[tokio::test(start_paused = true)]
async fn retries_of_a_route_need_a_worker_that_has_them() {
    let once = || Queue::with_worker(Ring::once()).slots(1);
    let error = once().start(with(RouteOptions::new().retry(Retry::fixed(1, ms(1))))).unwrap_err();
    let StartError::Route { kind, source } = error else { panic!("{error}") };
    assert_eq!((&*kind, source), ("odd", InvalidRoute::Unsupported { backend: "memory", feature: Feature::Retries }));

    let queue = once().start(with(RouteOptions::new().retry(Retry::none()))).unwrap();
    queue.enqueue(Routed::json("odd", &1).unwrap()).await.unwrap();
    assert_eq!(end(&queue).await.stats().done, 1);
}

/// E-102
#[tokio::test(start_paused = true)]
async fn a_million_routes_work() {
    const ROUTES: u64 = 1_000_000;
    let sum = Arc::new(AtomicU64::new(0));
    let routes = (0..ROUTES).fold(Routes::new(), |routes, number| {
        let sum = sum.clone();
        routes.on(number.to_string(), move |job: u64| {
            sum.fetch_add(number * job, Ordering::Relaxed);
            std::future::ready(())
        })
    });
    let queue = Queue::with_worker(Ring::new()).slots(2).start(routes).unwrap();
    let kinds = (0..1_000).map(|step| step * (ROUTES / 1_000) + step);
    let expected: u64 = kinds.clone().map(|kind| kind * 2).sum();
    for kind in kinds {
        queue.enqueue(Routed::json(kind.to_string(), &2_u64).unwrap()).await.unwrap();
    }
    queue.enqueue(Routed::json(ROUTES.to_string(), &2_u64).unwrap()).await.unwrap();
    until(|| queue.stats().done == 1_000 && queue.stats().dead == 1).await;
    assert_eq!(sum.load(Ordering::Relaxed), expected);
    drop(end(&queue).await);
}
