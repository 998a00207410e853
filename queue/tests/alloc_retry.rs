//! A retry that waits in its slot allocates nothing while logging is off, and nobody puts its error into words.

#![allow(clippy::unwrap_used)]

mod common_alloc;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common_alloc::load::{Load, Shape};
use common_alloc::{allocations_of, on_each_runtime, on_paused_runtime};
use queue::{Context, Queue, Retry, Ring};

static FORMATTED: AtomicUsize = AtomicUsize::new(0);

/// Counts how often it is put into words.
#[derive(Debug)]
struct Flaky;

impl std::error::Error for Flaky {}

impl fmt::Display for Flaky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        FORMATTED.fetch_add(1, Ordering::SeqCst);
        f.write_str("not yet")
    }
}

/// How often the process allocates for jobs that fail three times and then succeed.
async fn third_retry_helps(load: &Load, shape: Shape, wait: Duration) -> usize {
    let builder = Queue::with_worker(shape.ring()).retry(Retry::fixed(3, wait).inline());
    let count = load.allocations(builder, |seen| {
        move |_: u64, cx: Context| {
            let seen = seen.clone();
            async move {
                if cx.attempt() <= 3 {
                    return Err(Flaky);
                }
                seen.one();
                Ok(())
            }
        }
    });
    count.await
}

/// How often the process allocates for one job that fails four times and is dead, where nobody keeps dead letters.
async fn no_retry_helps() -> usize {
    let ring = Ring::builder().dead_letters(0).build::<u64>().unwrap();
    let queue = Queue::with_worker(ring).slots(1).retry(Retry::fixed(3, Duration::from_millis(10)).inline());
    let queue = queue.start(async |_: u64| Err::<(), _>(Flaky)).unwrap();
    tokio::task::yield_now().await;
    let count = allocations_of(async {
        queue.enqueue(1).await.unwrap();
        while queue.stats().dead == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    assert_eq!(queue.stats().failed, 4);
    count
}

/// E-42, E-48
#[test]
fn an_inline_retry_allocates_nothing() {
    on_paused_runtime(async || {
        for shape in Shape::ALL {
            let load = Load::of(shape, 5_000, 5_000);
            assert_eq!(third_retry_helps(&load, shape, Duration::from_millis(10)).await, 0, "{shape:?}");
        }
        let first = no_retry_helps().await;
        assert_eq!(no_retry_helps().await, first, "the same for every job");
        assert!(first <= 2, "the verdict and the letter that nobody keeps, not four texts: {first}");
    });
    on_each_runtime(async || {
        let shape = Shape::ALL[2];
        assert_eq!(third_retry_helps(&Load::of(shape, 5_000, 2_000), shape, Duration::ZERO).await, 0);
    });
    assert_eq!(FORMATTED.load(Ordering::SeqCst), 0);
}
