//! What is set on a job beats what is set on the queue.

use std::pin::Pin;
use std::sync::Arc;

use crate::tokio;
use parking_lot::Mutex;
use queue::{Backoff, Context, Queue, Reason, Retry, Ring};
use tokio::time::{Instant, sleep};

use crate::common::{LONG, dead, end, ms};

/// A queue whose job is an error after `job` milliseconds, and when its attempts started.
fn failing(retry: Retry) -> (queue::Builder<Ring<u64>, ()>, Starts) {
    (Queue::with_worker(Ring::new()).slots(1).retry(retry), Starts::default())
}

/// A handler that fails.
type Failing = Pin<Box<dyn Future<Output = Result<(), &'static str>> + Send>>;

#[derive(Default, Clone)]
struct Starts(Arc<Mutex<Vec<(u64, Instant)>>>);

impl Starts {
    fn handler(&self) -> impl Fn(u64, Context) -> Failing + use<> {
        let starts = self.clone();
        move |job, _| {
            starts.0.lock().push((job, Instant::now()));
            Box::pin(async move {
                sleep(ms(job)).await;
                Err("always")
            })
        }
    }

    /// The waits between the attempts of `job`.
    fn gaps(&self, job: u64) -> Vec<u128> {
        let starts: Vec<_> = self.0.lock().iter().filter(|(other, _)| *other == job).map(|(_, at)| *at).collect();
        starts.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect()
    }
}

/// E-19
#[tokio::test(start_paused = true)]
async fn retries_of_the_job_win() {
    let (builder, starts) = failing(Retry::fixed(3, ms(10)));
    let queue = builder.start(starts.handler()).unwrap();
    queue.job(1).retries(1).enqueue().await.unwrap();
    queue.enqueuer().job(2).retries(0).enqueue().await.unwrap();
    queue.job(3).retries(5).enqueue().await.unwrap();
    queue.enqueue(4).await.unwrap();
    sleep(ms(1_000)).await;
    let attempts = [1, 2, 3, 4].map(|job| starts.gaps(job).len() + 1);
    assert_eq!(attempts, [2, 1, 6, 4]);
    assert_eq!(dead(&queue).await.len(), 4);
    drop(end(&queue).await);
}

/// E-19
#[tokio::test(start_paused = true)]
async fn back_off_of_the_job_wins() {
    let (builder, starts) = failing(Retry::fixed(2, ms(10)));
    let queue = builder.start(starts.handler()).unwrap();
    queue.job(0).backoff(Backoff::exponential().base(ms(100)).factor(3.0).without_jitter()).enqueue().await.unwrap();
    sleep(LONG).await;
    queue.enqueuer().job(1).backoff(Backoff::fixed(ms(70))).retries(1).enqueue().await.unwrap();
    sleep(LONG).await;
    assert_eq!(starts.gaps(0), [100, 300]);
    assert_eq!(starts.gaps(1), [71]);
}

/// E-19
#[tokio::test(start_paused = true)]
async fn timeout_and_deadline_of_the_job_win() {
    let (builder, starts) = failing(Retry::fixed(1, ms(500)));
    let queue = builder.timeout(ms(200)).deadline(LONG).start(starts.handler()).unwrap();
    queue.job(100).timeout(ms(50)).retries(0).enqueue().await.unwrap();
    sleep(ms(60)).await;
    assert_eq!((queue.stats().timed_out, queue.stats().dead), (1, 1));
    queue.enqueuer().job(300).timeout(ms(400)).retries(0).enqueue().await.unwrap();
    sleep(ms(350)).await;
    assert_eq!((queue.stats().timed_out, queue.stats().failed), (1, 1));
    queue.job(1).deadline(ms(100)).enqueue().await.unwrap();
    sleep(ms(10)).await;
    assert_eq!(dead(&queue).await.last().unwrap().cause.reason, Reason::Deadline);
    drop(end(&queue).await);
}

/// E-19: also what the context says of it.
#[tokio::test(start_paused = true)]
async fn the_context_shows_what_holds_for_the_job() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    let handler = move |_: u32, cx: Context| {
        notes.lock().push((cx.attempts(), cx.times_out_at().map(|ends| ends - Instant::now())));
        std::future::ready(())
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(Retry::exponential(3)).start(handler).unwrap();
    queue.job(1).retries(7).timeout(ms(5)).enqueue().await.unwrap();
    queue.enqueue(2).await.unwrap();
    drop(end(&queue).await);
    assert_eq!(*seen.lock(), [(8, Some(ms(5))), (4, None)]);
}
