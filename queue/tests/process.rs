//! What a queue does to the process that it lives in: nothing that stays.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::time::Duration;

use queue::{Queue, Retry, Ring};

/// How many threads there are, and which signals have a handler or are ignored.
fn process() -> (usize, Vec<String>) {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().count();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let signals = status.lines().filter(|line| line.starts_with("SigCgt") || line.starts_with("SigIgn"));
    (threads, signals.map(str::to_owned).collect())
}

/// The only test of its binary, so that nobody else's threads come and go.
///
/// E-88, E-90: with jobs that fail, panic and overrun, and a drop without a shutdown.
#[test]
fn a_queue_leaves_its_process_as_it_was() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let before = process();
    assert_eq!(before.1.len(), 2);
    let handler = async |job: u64| match job % 100 {
        0 => panic!("one of the panics"),
        1 => Err("an error"),
        2 => std::future::pending().await,
        _ => Ok(()),
    };
    let start = || {
        let builder = Queue::with_worker(Ring::new()).slots(10).timeout(Duration::from_millis(10));
        builder.retry(Retry::none()).start(handler).unwrap()
    };
    let stats = runtime.block_on(async {
        let (queue, dropped) = (start(), start());
        for job in 0..400 {
            queue.enqueue(job).await.unwrap();
            dropped.enqueue(job).await.unwrap();
        }
        drop(dropped);
        assert_eq!(process(), before);
        *queue.shutdown(Duration::from_secs(60)).await.unwrap().stats()
    });
    assert_eq!((stats.done, stats.dead, stats.panicked, stats.timed_out), (388, 12, 4, 4));
    assert_eq!(process(), before);
}
