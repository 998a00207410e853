//! R-22, P-3: a ring that moves its jobs has none to try again.
use queue::{Queue, Retry, Ring};

fn main() {
    let _queue = Queue::with_worker(Ring::once()).retry(Retry::exponential(3)).start(async |_: String| ());
}
