//! Jobs whose handlers wait allocate nothing either: all of them, or one of many.

#![allow(clippy::unwrap_used)]

mod common_alloc;

use std::time::Duration;

use common_alloc::load::{Load, Shape};
use common_alloc::on_each_runtime;
use queue::{Context, Queue};

/// P-1
#[test]
fn a_job_that_waits_allocates_nothing() {
    on_each_runtime(async || {
        for shape in Shape::ALL {
            let load = Load::of(shape, 10_000, 20_000);
            let builder = || Queue::with_worker(shape.ring());

            let always = load.allocations(builder(), |seen| {
                move |_: u64| {
                    let seen = seen.clone();
                    async move {
                        tokio::task::yield_now().await;
                        seen.one();
                    }
                }
            });
            assert_eq!(always.await, 0, "{shape:?}");

            let limited = builder().timeout(Duration::from_secs(60));
            let sometimes = load.allocations(limited, |seen| {
                move |job: u64, _: Context| {
                    let seen = seen.clone();
                    async move {
                        if job.is_multiple_of(100) {
                            tokio::task::yield_now().await;
                        }
                        seen.one();
                    }
                }
            });
            assert_eq!(sometimes.await, 0, "one in a hundred, with a timeout: {shape:?}");
        }
    });
}
