//! E-40: a function that is not async is wrapped in `blocking`.
use queue::{Queue, Ring};

fn send(_: String) {}

fn main() {
    let _queue = Queue::with_worker(Ring::new()).start(send);
}
