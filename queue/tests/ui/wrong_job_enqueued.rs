//! P-3: a job of the wrong type is not enqueued.
use queue::{Queue, Ring};

async fn send(_: String) {}

fn main() {
    let queue = Queue::with_worker(Ring::new()).start(send).unwrap();
    let _enqueue = queue.enqueue(42_u64);
}
