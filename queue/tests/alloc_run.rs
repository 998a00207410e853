//! Jobs whose handlers never wait allocate nothing: their enqueue, its wait for room, and their run.

#![allow(clippy::unwrap_used)]

mod common_alloc;

use std::time::Duration;

use common_alloc::load::{Load, Shape};
use common_alloc::on_each_runtime;
use queue::{Context, Queue};

/// P-1
#[test]
fn a_job_that_never_waits_allocates_nothing() {
    on_each_runtime(async || {
        for shape in Shape::ALL {
            let load = Load::new(shape);
            let builder = || Queue::with_worker(shape.ring());

            let plain = load.allocations(builder(), |seen| {
                move |_: u64| {
                    let seen = seen.clone();
                    async move { seen.one() }
                }
            });
            assert_eq!(plain.await, 0, "{shape:?}");

            let limits = builder().timeout(Duration::from_secs(60)).deadline(Duration::from_secs(600));
            let with_context = load.allocations(limits, |seen| {
                move |_: u64, cx: Context| {
                    let seen = seen.clone();
                    async move {
                        assert_eq!(cx.attempt(), 1);
                        seen.one();
                    }
                }
            });
            assert_eq!(with_context.await, 0, "with a context, a timeout and a deadline: {shape:?}");
        }
    });
}
