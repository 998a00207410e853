//! E-40: a future that is not `Send` cannot run on a slot.
use std::rc::Rc;

use queue::{Queue, Ring};

async fn send(to: String) {
    let shared = Rc::new(to);
    tokio::task::yield_now().await;
    drop(shared);
}

fn main() {
    let _queue = Queue::with_worker(Ring::new()).start(send);
}
