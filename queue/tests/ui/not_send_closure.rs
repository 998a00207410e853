//! E-40: nor can that of a closure.
use std::rc::Rc;

use queue::{Queue, Ring};

fn main() {
    let _queue = Queue::with_worker(Ring::new()).start(async |to: String| {
        let shared = Rc::new(to);
        tokio::task::yield_now().await;
        drop(shared);
    });
}
