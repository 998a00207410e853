//! E-40, P-3: a handler takes the jobs of its queue.
use queue::{Queue, Ring};

async fn send(_: String) {}

fn main() {
    let _queue = Queue::with_worker(Ring::<u64>::new()).start(send);
}
