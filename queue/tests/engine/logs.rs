//! What is logged, at which level, and what is not even formatted.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::tokio;
use parking_lot::Mutex;
use queue::{Context, Queue, Retry, Ring};
use tokio::time::sleep;
use tracing::level_filters::LevelFilter;

use crate::common::{Log, allocations_here, dead, end, ms};

/// An error that counts how often it is formatted.
#[derive(Debug, Clone)]
struct Counted(Arc<AtomicUsize>);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fetch_add(1, Ordering::Relaxed);
        f.write_str("counted")
    }
}

impl std::error::Error for Counted {}

/// At the start of each attempt: how often the error was formatted, and the thread's allocations.
type Notes = Arc<Mutex<Vec<(usize, usize)>>>;

/// Runs a job that fails 3 retries; `before` is called at the start of each attempt.
async fn four_attempts(before: impl Fn(u32) + Send + Sync + 'static) -> Vec<(usize, usize)> {
    let error = Counted(Arc::default());
    let notes: Notes = Arc::new(Mutex::new(Vec::with_capacity(8)));
    let seen = notes.clone();
    let fails = error.clone();
    let handler = move |_: u32, cx: Context| {
        before(cx.attempt());
        seen.lock().push((fails.0.load(Ordering::Relaxed), allocations_here()));
        std::future::ready(Err::<(), _>(fails.clone()))
    };
    let retry = Retry::fixed(3, ms(10)).inline();
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(retry).start(handler).unwrap();
    queue.enqueue(1).await.unwrap();
    sleep(ms(1_000)).await;
    let stats = queue.stats();
    assert_eq!((stats.started, stats.failed, stats.dead), (4, 4, 1));
    assert_eq!(&*dead(&queue).await[0].cause.error, "counted");
    drop(end(&queue).await);
    notes.lock().clone()
}

/// E-42
#[tokio::test(start_paused = true)]
async fn each_retry_is_a_line_at_info() {
    let (log, _guard) = Log::listen(LevelFilter::INFO);
    let notes = four_attempts(|_| ()).await;
    let lines = log.lines("INFO The attempt failed; the job is tried again.");
    assert_eq!(lines.len(), 3);
    for (line, attempt) in lines.iter().zip(1..) {
        assert!(line.contains(&format!("attempt={attempt}")) && line.contains("error=counted"), "{line}");
        assert!(line.contains("retry_in=10ms") && line.contains("job="), "{line}");
    }
    assert_eq!(notes.iter().map(|(formatted, _)| *formatted).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

/// E-42
#[tokio::test(start_paused = true)]
async fn retries_without_a_listener_format_and_allocate_nothing() {
    for level in [LevelFilter::OFF, LevelFilter::WARN] {
        let (log, _guard) = Log::listen(level);
        let notes = four_attempts(|_| ()).await;
        assert!(log.lines("tried again").is_empty());
        assert!(notes.iter().all(|(formatted, _)| *formatted == 0), "{notes:?}");
        // The runtime's timers may make their room at the first wait.
        assert!(notes[1..].iter().all(|(_, allocated)| *allocated == notes[1].1), "{notes:?}");
    }
}

/// E-42
#[tokio::test(start_paused = true)]
async fn a_level_switched_on_between_two_retries_counts_from_there() {
    let (log, _guard) = Log::listen(LevelFilter::OFF);
    let switch = log.clone();
    four_attempts(move |attempt| {
        if attempt == 3 {
            switch.set_level(LevelFilter::INFO);
        }
    })
    .await;
    assert_eq!(log.lines("tried again").len(), 1);
}

/// E-62
#[tokio::test(start_paused = true)]
async fn a_panic_is_logged_with_its_message_and_place() {
    let (log, _guard) = Log::listen(LevelFilter::ERROR);
    let line = Arc::new(AtomicU32::new(0));
    let at = line.clone();
    let handler = move |job: u32| {
        let at = at.clone();
        if job == 1 {
            at.store(line!() + 1, Ordering::Relaxed);
            panic!("planned: at the call");
        }
        async move {
            if job == 2 {
                at.store(line!() + 1, Ordering::Relaxed);
                panic!("planned: {}", "formatted");
            }
            tokio::task::yield_now().await;
            at.store(line!() + 2, Ordering::Relaxed);
            if job == 3 {
                std::panic::panic_any(7_u8);
            }
        }
    };
    let queue = Queue::with_worker(Ring::new()).slots(1).retry(Retry::none()).start(handler).unwrap();
    for (job, text) in [(1, "planned: at the call"), (2, "planned: formatted"), (3, "non-text panic")] {
        let id = queue.enqueue(job).await.unwrap();
        sleep(ms(10)).await;
        let lines = log.lines("The handler panicked.");
        let last = lines.last().unwrap();
        assert_eq!(lines.len(), job as usize);
        assert!(last.contains(&format!("panic={text}")) && last.contains(&format!("job={id}")), "{last}");
        let place = format!("{}:{}", file!(), line.load(Ordering::Relaxed));
        assert!(last.contains(&place), "{last} is not at {place}");
    }
    drop(end(&queue).await);
}
