//! Slots beside each other: handlers that need one another, threads that block, slots that go while jobs come.

use std::future::Future;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use crate::tokio;
use parking_lot::Mutex;
use queue::{Context, Queue, Ring, Worker, blocking};
use tokio::sync::Barrier;
use tokio::time::timeout;

use crate::common::{Broker, LONG, end, until};

async fn meets<J>(_: J, cx: Context<Arc<Barrier>>) {
    cx.state().wait().await;
}

/// Both jobs are there before a slot looks: where the worker hands out many at once, the first slot has both.
async fn two_jobs_meet<W: Worker>(worker: W, jobs: [W::Job; 2]) {
    let builder = Queue::with_worker(worker).slots(2).state(Arc::new(Barrier::new(2)));
    let enqueuer = builder.enqueuer();
    for job in jobs {
        enqueuer.enqueue(job).await.unwrap();
    }
    let queue = builder.start(meets).unwrap();
    until(|| queue.stats().done == 2).await;
    drop(end(&queue).await);
}

/// E-31
#[tokio::test(start_paused = true)]
async fn two_handlers_meet_at_a_barrier() {
    for _ in 0..100 {
        two_jobs_meet(Ring::new(), [1, 2]).await;
        two_jobs_meet(Broker::new(), ["one".to_owned(), "two".to_owned()]).await;
    }
}

/// E-31
#[tokio::test]
async fn blocking_code_leaves_the_only_thread_to_others() {
    let (open, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let wait = move |_: u32| gate.lock().recv_timeout(Duration::from_secs(30)).unwrap();
    let blocked = Queue::with_worker(Ring::new()).slots(1).start(blocking(wait)).unwrap();
    let others = Queue::with_worker(Ring::new()).slots(1).start(async |_: u32| tokio::task::yield_now().await).unwrap();
    blocked.enqueue(1).await.unwrap();
    until(|| blocked.stats().running == 1).await;
    for job in 0..100 {
        others.enqueue(job).await.unwrap();
    }
    until(|| others.stats().done == 100).await;
    assert_eq!((blocked.stats().running, blocked.stats().done), (1, 0));
    open.send(()).unwrap();
    until(|| blocked.stats().done == 1).await;
    drop((end(&blocked).await, end(&others).await));
}

/// The answer, which comes.
async fn comes<T>(future: impl Future<Output = T>) -> T {
    timeout(LONG, future).await.unwrap()
}

/// E-30
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_that_goes_takes_no_wake_with_it() {
    let queue = Queue::with_worker(Ring::new()).slots(3).start(async |_: u64| ()).unwrap();
    for round in 1..=10_000 {
        let enqueuer = queue.enqueuer();
        let job = tokio::spawn(async move {
            // Before, amid and after the resize.
            for _ in 0..round % 4 {
                tokio::task::yield_now().await;
            }
            enqueuer.enqueue(round).await.unwrap();
        });
        comes(queue.resize(1 + round as usize % 2)).await.unwrap();
        comes(job).await.unwrap();
        until(|| queue.stats().done == round).await;
        comes(queue.resize(3)).await.unwrap();
    }
    drop(end(&queue).await);
}
