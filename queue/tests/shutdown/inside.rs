//! A shutdown that is asked for by the queue's own handlers and hooks.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use crate::tokio;
use parking_lot::Mutex;
use queue::{Completion, Context, Queue, Ring, ShutdownHandle, Stats};
use tokio::time::{Instant, timeout};

use crate::common::{assert_ring_adds_up, assert_tasks_gone, fill, settle_down};

const TWO: Duration = Duration::from_secs(2);

/// The answers, and how long each took.
type Answers = Arc<Mutex<Vec<(Option<Stats>, Duration)>>>;

async fn ask(handle: ShutdownHandle, answers: Answers) {
    let start = Instant::now();
    let answer = handle.shutdown(TWO).await;
    answers.lock().push((answer, start.elapsed()));
}

/// E-87
#[tokio::test(start_paused = true)]
async fn handlers_that_wait_for_the_end_of_their_queue_are_answered_in_time() {
    let metrics = tokio::runtime::Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    let answers = Answers::default();
    let notes = answers.clone();
    let handler = move |job: u64, cx: Context| {
        let notes = notes.clone();
        async move {
            // Each further call would move the deadline.
            if job < 3 { ask(cx.shutdown_handle(), notes).await } else { pending().await }
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(3).start(handler).unwrap();
    fill(&queue, 5).await;
    let report = queue.shutdown(TWO).await.unwrap();
    assert!(report.is_complete());
    assert_ring_adds_up(report.stats());
    let answers = std::mem::take(&mut *answers.lock());
    assert_eq!(answers.len(), 3);
    for (answer, took) in answers {
        assert_eq!((answer.unwrap().running, took), (3, TWO));
    }
    assert_eq!((report.stats().done, report.stats().returned), (3, 2));
    assert_tasks_gone(&metrics, before).await;
}

/// E-87
#[tokio::test(start_paused = true)]
async fn a_hook_that_waits_for_the_end_of_its_queue_is_answered_in_time() {
    let answers = Answers::default();
    let builder = Queue::with_worker(Ring::new()).slots(1);
    let handle: Arc<Mutex<Option<ShutdownHandle>>> = Arc::default();
    let (later, notes) = (handle.clone(), answers.clone());
    let hook = move |_: Completion| {
        let (handle, answers) = (later.lock().clone(), notes.clone());
        async move {
            if let Some(handle) = handle {
                ask(handle, answers).await;
            }
        }
    };
    let queue = builder.on_complete(hook).start(async |_: u64| ()).unwrap();
    *handle.lock() = Some(queue.shutdown_handle());
    queue.enqueue(1).await.unwrap();
    queue.shutdown_handle().begun().await;
    let report = queue.shutdown(TWO).await.unwrap();
    assert!(report.is_complete());
    let answers = answers.lock();
    assert_eq!((answers.len(), answers[0].1, report.unfinished_hooks()), (1, TWO, 0));
    assert_eq!(answers[0].0.unwrap().done, 1);
}

/// A handle keeps nothing alive: the last handle of the queue still ends it, and then there is nothing to wait for.
#[tokio::test(start_paused = true)]
async fn a_handle_is_weak() {
    let metrics = tokio::runtime::Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    let queue = Queue::with_worker(Ring::new()).slots(1).start(async |_: u64| ()).unwrap();
    let handle = queue.shutdown_handle();
    assert!(!handle.is_begun());
    drop(queue);
    assert!(handle.is_begun());
    settle_down(|| metrics.num_alive_tasks() == before).await;
    handle.begin(TWO);
    timeout(TWO, handle.begun()).await.unwrap();
    assert!(handle.shutdown(TWO).await.is_none());
}

/// Shutdown from a handler and a hook at once, and from outside.
#[tokio::test(start_paused = true)]
async fn everybody_may_ask_at_once() {
    let answers = Answers::default();
    let handle: Arc<Mutex<Option<ShutdownHandle>>> = Arc::default();
    let (later, notes) = (handle.clone(), answers.clone());
    let hook = move |_: Completion| {
        let (handle, answers) = (later.lock().clone().unwrap(), notes.clone());
        ask(handle, answers)
    };
    let notes = answers.clone();
    let handler = move |job: u64, cx: Context| {
        let notes = notes.clone();
        async move {
            if job > 0 {
                ask(cx.shutdown_handle(), notes).await;
            }
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(2).on_complete(hook).start(handler).unwrap();
    *handle.lock() = Some(queue.shutdown_handle());
    fill(&queue, 4).await;
    let report = queue.shutdown(TWO * 10).await.unwrap();
    assert!(report.is_complete(), "{report:?}");
    assert_ring_adds_up(report.stats());
    assert!(answers.lock().iter().all(|(_, took)| *took <= TWO), "{answers:?}");
}
