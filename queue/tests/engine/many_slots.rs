//! No slots, very many, and too many.

use crate::tokio;
use queue::{Context, Queue, ResizeError, Ring, StartError};
use tokio::time::sleep;

use crate::common::{Gate, LONG, end, ms};

const MANY: usize = 100_000;

async fn gated(_: usize, cx: Context<Gate>) {
    cx.state().pass().await;
}

#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_slots_run_as_many_jobs_and_end() {
    let gate = Gate::new();
    let queue = Queue::with_worker(Ring::new()).slots(MANY).state(gate.clone()).start(gated).unwrap();
    assert_eq!((queue.slots(), queue.stats().slots), (MANY, MANY as u64));
    queue.enqueue_many(0..MANY + 10).await.unwrap();
    let stats = async |reached: fn(&queue::Stats) -> bool| {
        for _ in 0..1_000 {
            let stats = queue.stats();
            if reached(&stats) {
                return stats;
            }
            sleep(ms(5)).await;
        }
        panic!("{:?}", queue.stats());
    };
    let stats_now = stats(|stats| stats.running == MANY as u64).await;
    assert_eq!((stats_now.queued, stats_now.held), (10, 0));
    gate.open(MANY / 2);
    let stats_now = stats(|stats| stats.done == MANY as u64 / 2 && stats.queued == 0).await;
    assert_eq!(stats_now.running, MANY as u64 / 2 + 10);
    // Half of them sleep, half run: all of them follow.
    queue.resize(3).await.unwrap();
    assert_eq!((queue.slots(), queue.stats().slots), (3, MANY as u64 / 2 + 10));
    queue.resize(MANY).await.unwrap();
    gate.open(MANY / 2 + 10);
    let report = end(&queue).await;
    assert_eq!((report.stats().done, report.stats().slots), (MANY as u64 + 10, 0));
}

#[tokio::test(start_paused = true)]
async fn no_slots_hold_and_give_back() {
    let queue = Queue::with_worker(Ring::new()).slots(0).state(Gate::new()).start(gated).unwrap();
    queue.enqueue_many(0..10).await.unwrap();
    queue.resize(0).await.unwrap();
    sleep(LONG).await;
    assert_eq!((queue.stats().queued, queue.stats().started, queue.stats().slots), (10, 0, 0));
    let report = end(&queue).await;
    assert_eq!((report.stats().returned, report.unrun()), (10, 10));
}

#[tokio::test(start_paused = true)]
async fn too_many_slots_are_refused_by_name() {
    let start = |slots| Queue::with_worker(Ring::new()).slots(slots).state(Gate::new()).start(gated);
    for slots in [(1 << 20) + 1, usize::MAX] {
        assert!(matches!(start(slots).unwrap_err(), StartError::TooManySlots { slots: asked, .. } if asked == slots));
    }
    let queue = start(1).unwrap();
    let refused = queue.resize(usize::MAX).await;
    assert_eq!(refused, Err(ResizeError::TooManySlots { slots: usize::MAX, max: 1 << 20 }));
    assert_eq!((queue.slots(), queue.stats().slots), (1, 1));
    drop(end(&queue).await);
}
