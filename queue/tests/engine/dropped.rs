//! Nothing keeps a job that has ended, however it ended.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::tokio;
use queue::{Error, Outcome, Queue, Retry, Ring};
use tokio::time::sleep;

use crate::common::{LONG, end, ms};

/// A job that is counted while it lives, each clone for itself.
struct Counted(Arc<AtomicUsize>, u32);

impl Counted {
    fn new(alive: &Arc<AtomicUsize>, number: u32) -> Self {
        alive.fetch_add(1, Ordering::SeqCst);
        Self(alive.clone(), number)
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Self::new(&self.0, self.1)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// One job for each way to end.
async fn every_end(job: Counted) -> Outcome {
    match job.1 {
        0 => Outcome::done(),
        1 => Outcome::failed(Error::new("again")),
        2 => Outcome::failed(Error::permanent("never")),
        3 => panic!("planned: job {}", job.1),
        4 => {
            pending::<()>().await;
            drop(job);
            Outcome::done()
        }
        _ => Outcome::snooze(LONG),
    }
}

/// R-9, P-12: after a shutdown there is a job where the report or a dead letter has it, and none anywhere else.
#[tokio::test(start_paused = true)]
async fn every_job_that_ended_is_dropped() {
    let alive = Arc::new(AtomicUsize::new(0));
    let builder = Queue::with_worker(Ring::new()).slots(2).retry(Retry::fixed(1, ms(10))).timeout(ms(50));
    let queue = builder.start(every_end).unwrap();
    for number in 0..6 {
        queue.enqueue(Counted::new(&alive, number)).await.unwrap();
    }
    queue.job(Counted::new(&alive, 0)).delay(LONG).enqueue().await.unwrap();
    sleep(ms(1_000)).await;
    let report = end(&queue).await;
    let stats = report.stats();
    assert_eq!((stats.done, stats.dead, stats.returned), (1, 4, 2));
    // Four in dead letters, one snoozes and one is delayed.
    assert_eq!(alive.load(Ordering::SeqCst), 6);
    drop(report.take_unrun());
    assert_eq!(alive.load(Ordering::SeqCst), 4);
    drop((queue, report));
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}
