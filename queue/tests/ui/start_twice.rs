//! E-1: a builder starts once.
use queue::{Queue, Ring};

async fn send(_: String) {}

fn main() {
    let builder = Queue::with_worker(Ring::new());
    let _first = builder.start(send);
    let _second = builder.start(send);
}
