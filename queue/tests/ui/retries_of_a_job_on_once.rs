//! nor for a single job.
use queue::{Queue, Ring};

fn main() {
    let queue = Queue::with_worker(Ring::once()).start(async |_: String| ()).unwrap();
    let _job = queue.job("once".to_owned()).retries(3);
}
