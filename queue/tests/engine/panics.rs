//! A panic is an outcome: its message, its counter, its policy, and a slot that goes on.

use std::sync::Arc;

use crate::tokio;
use parking_lot::Mutex;
use queue::{Context, Queue, Reason, Retry, Ring};
use tokio::sync::Barrier;
use tokio::time::sleep;

use crate::common::{dead, end, ms, until};

/// E-62
#[tokio::test(start_paused = true)]
async fn the_message_is_kept_and_the_slot_goes_on() {
    let tasks = Arc::new(Mutex::new(Vec::new()));
    let notes = tasks.clone();
    let handler = move |job: u32| {
        notes.lock().push(tokio::task::id());
        async move {
            match job {
                0 => panic!("planned: a text"),
                1 => panic!("planned: {} text", "another"),
                2 => std::panic::panic_any("planned: any".to_owned()),
                3 => std::panic::panic_any(17),
                _ => {}
            }
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(Retry::none()).start(handler).unwrap();
    queue.enqueue_many(0..5).await.unwrap();
    let report = end(&queue).await;
    let stats = report.stats();
    assert_eq!((stats.panicked, stats.failed, stats.dead, stats.done), (4, 0, 4, 1));
    let texts: Vec<_> = dead(&queue).await.into_iter().map(|letter| letter.cause.error).collect();
    let wanted = ["planned: a text", "planned: another text", "planned: any", "non-text panic"];
    assert_eq!(texts, wanted.map(|text| format!("panicked: {text}").into_boxed_str()));
    let tasks = tasks.lock();
    assert!(tasks.iter().all(|task| *task == tasks[0]));
}

/// E-64
#[tokio::test(start_paused = true)]
async fn a_panic_is_retried_or_dead_as_the_policy_says() {
    for inline in [false, true] {
        let handler = async |_: u32, cx: Context| assert!(cx.attempt() > 2, "planned");
        let retry = Retry::fixed(5, ms(10));
        let retry = if inline { retry.inline() } else { retry };
        let queue = Queue::with_worker(Ring::new()).slots(1).retry(retry).start(handler).unwrap();
        queue.enqueue(1).await.unwrap();
        sleep(ms(1_000)).await;
        let stats = queue.stats();
        assert_eq!((stats.panicked, stats.failed, stats.done, stats.dead), (2, 0, 1, 0));

        let queue = Queue::with_worker(Ring::new()).slots(1).retry(retry.dead_on_panic()).start(handler).unwrap();
        queue.enqueue(1).await.unwrap();
        sleep(ms(1_000)).await;
        let stats = queue.stats();
        assert_eq!((stats.panicked, stats.failed, stats.done, stats.dead), (1, 0, 0, 1));
        let letter = dead(&queue).await.remove(0);
        assert_eq!((letter.cause.reason, letter.meta.attempt), (Reason::Panicked, 1));
    }
}

/// E-64: each has its own counter, also where one job has both.
#[tokio::test(start_paused = true)]
async fn panics_and_failures_are_counted_apart() {
    let handler = async |_: u32, cx: Context| {
        assert!(cx.attempt() != 1, "planned");
        Err::<(), _>("no")
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(Retry::fixed(2, ms(1))).start(handler).unwrap();
    queue.enqueue(1).await.unwrap();
    sleep(ms(100)).await;
    let stats = queue.stats();
    assert_eq!((stats.panicked, stats.failed, stats.dead, stats.started), (1, 2, 1, 3));
    assert_eq!(dead(&queue).await[0].cause.reason, Reason::AttemptsExhausted);
}

/// E-65
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn three_slots_survive_three_panics() {
    let barrier = Arc::new(Barrier::new(3));
    let meet = barrier.clone();
    let handler = move |job: u32| {
        let meet = meet.clone();
        async move {
            assert!(job >= 3, "planned");
            if job >= 1_000 {
                meet.wait().await;
            }
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(3).retry(Retry::none()).start(handler).unwrap();
    queue.enqueue_many(0..40).await.unwrap();
    until(|| queue.stats().done == 37).await;
    assert_eq!((queue.stats().panicked, queue.stats().dead, queue.stats().slots), (3, 3, 3));
    queue.enqueue_many(1_000..1_003).await.unwrap();
    until(|| queue.stats().done == 40).await;
    drop(end(&queue).await);
}
