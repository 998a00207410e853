//! What the engine's tests share: gates, a quiet panic hook, waits without a clock, workers that take notes, a log.

mod allocations;
mod broker;
mod log;
mod spy;

pub use allocations::allocations_here;
pub use broker::{Broker, Op, Text};
pub use log::Log;
pub use spy::Spy;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use queue::core::{Durability, Payload};
use queue::{DeadLetter, DeadLetters, Page, Queue, Report, Worker};
use tokio::sync::Semaphore;
use tokio::task::yield_now;

/// Long enough for whatever ends at all.
pub const LONG: Duration = Duration::from_secs(3_600);
/// As `ms` says.
pub const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A gate that lets as many through as it was told.
#[derive(Clone)]
pub struct Gate(Arc<Semaphore>);

impl Gate {
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    pub fn open(&self, passes: usize) {
        self.0.add_permits(passes);
    }

    pub async fn pass(&self) {
        self.0.acquire().await.unwrap().forget();
    }
}

/// Lets every other task run until `done`; a paused clock stands still meanwhile. Fails after 30 s of the real one.
pub async fn until(done: impl Fn() -> bool) {
    let start = SystemTime::now();
    while start.elapsed().is_ok_and(|waited| waited < Duration::from_secs(30)) {
        for _ in 0..1_000 {
            if done() {
                return;
            }
            yield_now().await;
        }
    }
    panic!("it never came to this");
}

/// Lets every other task of a runtime with one thread run as far as it can without the clock.
pub async fn settle_down() {
    for _ in 0..200 {
        yield_now().await;
    }
}

/// How many tasks live on this runtime.
pub fn alive() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// All dead letters.
pub async fn dead<W: DeadLetters>(queue: &Queue<W>) -> Vec<DeadLetter<W::Payload>>
where
    W::Payload: Payload<Job = W::Job>,
{
    queue.worker().dead_letters(Page::first(10_000)).await.unwrap()
}

/// Shuts down with all the time there is: no job is left in anybody's hands, and on the ring each is accounted for.
pub async fn end<W: Worker>(queue: &Queue<W>) -> Report<W::Job> {
    let report = queue.shutdown(LONG).await.unwrap();
    assert!(report.is_complete());
    let stats = report.stats();
    assert_eq!((stats.held, stats.running, stats.slots), (0, 0, 0), "{stats:?}");
    if queue.worker().capabilities().durability == Durability::Process {
        let ended = stats.done + stats.dead + stats.returned + stats.cancelled;
        assert_eq!((stats.queued, stats.waiting, stats.accepted), (0, 0, ended), "{stats:?}");
    }
    report
}
