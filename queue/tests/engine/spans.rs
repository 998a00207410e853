//! The span around each attempt.

use crate::tokio;
use queue::{Context, Queue, Retry, Ring};
use tokio::time::sleep;
use tracing::level_filters::LevelFilter;

use crate::common::{Log, end, ms};

/// E-68
#[tokio::test(start_paused = true)]
async fn each_attempt_has_a_span_with_its_outcome() {
    let (log, _guard) = Log::listen(LevelFilter::INFO);
    let handler = async |job: &'static str, cx: Context| {
        tracing::info!(job, "Before the wait.");
        sleep(ms(10)).await;
        tracing::info!(job, "After the wait.");
        match job {
            "fails" if cx.attempt() == 1 => return Err("no"),
            "panics" => panic!("planned: no"),
            "overruns" => sleep(ms(1_000)).await,
            _ => {}
        }
        Ok(())
    };
    let retry = Retry::fixed(1, ms(10)).dead_on_panic();
    let queue = Queue::with_worker(Ring::new()).name("mail").slots(1).retry(retry).start(handler).unwrap();
    let mut ids = Vec::new();
    for job in ["fine", "fails", "panics"] {
        ids.push(queue.enqueue(job).await.unwrap());
    }
    ids.push(queue.job("overruns").timeout(ms(100)).retries(0).enqueue().await.unwrap());
    sleep(ms(2_000)).await;
    drop(end(&queue).await);

    let expected = [(0, 1, "ok"), (1, 1, "failed"), (2, 1, "panicked"), (3, 1, "timed_out"), (1, 2, "ok")];
    let mut expected: Vec<_> = expected
        .map(|(job, attempt, outcome)| format!("job queue=mail id={} attempt={attempt} outcome={outcome}", ids[job]))
        .into();
    let mut spans = log.spans();
    spans.sort_unstable();
    expected.sort_unstable();
    assert_eq!(spans, expected);
    // The handler's own lines are inside, in each of its polls, and so are the engine's about the attempt.
    for line in log.lines("the wait.") {
        assert!(line.contains(" in=job"), "{line}");
    }
    assert_eq!(log.lines("the wait.").len(), 10);
    assert!(log.lines("The handler panicked.")[0].contains(" in=job"));
    assert!(log.lines("The attempt failed;")[0].contains(" in=job"));
}

/// Nobody listens: no span, and the handler runs the same.
#[tokio::test(start_paused = true)]
async fn no_listener_no_span() {
    let (log, _guard) = Log::listen(LevelFilter::WARN);
    let queue = Queue::with_worker(Ring::new()).slots(1).start(async |_: u32| ()).unwrap();
    queue.enqueue(1).await.unwrap();
    sleep(ms(10)).await;
    assert_eq!(queue.stats().done, 1);
    assert!(log.spans().is_empty());
    drop(end(&queue).await);
}
