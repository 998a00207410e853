//! Where the worker's type is erased, what it cannot do is a typed error that gives the job back.

use std::time::Duration;

use crate::common::{Broker, Server};
use crate::tokio;
use queue::core::Feature;
use queue::{EnqueueError, Queue, Retry, Ring, StartError, Worker};

const LATER: Duration = Duration::from_secs(1);

/// The job comes back, with the name of the backend and what it does not have.
#[track_caller]
fn assert_unsupported(answer: Result<queue::JobId, EnqueueError<u64>>, missing: Feature) {
    let error = answer.unwrap_err();
    assert_eq!(error.to_string(), format!("the test broker worker has no {missing}"));
    let EnqueueError::Unsupported { job: 7, backend: "test broker", feature } = error else { panic!("{error:?}") };
    assert_eq!(feature, missing);
}

/// E-20
#[tokio::test(start_paused = true)]
async fn an_enqueuer_answers_what_its_worker_does_not_have() {
    let queue = Queue::with_worker(Broker::new(&Server::default())).start(async |_: u64| ()).unwrap();
    let enqueuer = queue.enqueuer();
    assert_unsupported(enqueuer.job(7).delay(LATER).enqueue().await, Feature::Delays);
    assert_unsupported(enqueuer.job(7).priority(1).try_enqueue().await, Feature::Priorities);
    enqueuer.job(7).retries(1).enqueue().await.unwrap();
    assert_eq!((queue.stats().accepted, queue.stats().rejected), (1, 2));
}

/// E-20
#[tokio::test(start_paused = true)]
async fn a_boxed_worker_answers_what_it_does_not_have() {
    let queue = Queue::with_worker(Broker::new(&Server::default()).boxed()).start(async |_: u64| ()).unwrap();
    assert_unsupported(queue.job(7).delay(LATER).enqueue().await, Feature::Delays);
    assert_unsupported(queue.job(7).priority(1).enqueue().await, Feature::Priorities);
    queue.job(7).retries(1).enqueue().await.unwrap();
}

/// E-20: a setting of the queue is an error of its start.
#[tokio::test(start_paused = true)]
async fn a_boxed_worker_that_cannot_retry_does_not_start_with_retries() {
    let once = || Queue::with_worker(Ring::once().boxed());
    let error = once().retry(Retry::exponential(3)).start(async |_: u64| ()).unwrap_err();
    assert!(matches!(error, StartError::Unsupported { backend: "memory", feature: Feature::Retries }));
    let queue = once().retry(Retry::none()).start(async |_: u64| ()).unwrap();
    let error = queue.job(7).retries(1).enqueue().await.unwrap_err();
    assert!(matches!(error, EnqueueError::Unsupported { job: 7, backend: "memory", feature: Feature::Retries }));
}
