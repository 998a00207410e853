//! E-40: a handler returns what says how it ended.
use queue::{Queue, Ring};

async fn count(text: String) -> usize {
    text.len()
}

fn main() {
    let _queue = Queue::with_worker(Ring::new()).start(count);
}
