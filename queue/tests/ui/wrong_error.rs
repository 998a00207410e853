//! E-40: what a handler returns as its error is one.
use queue::{Queue, Ring};

struct NoError;

async fn send(_: String) -> Result<(), NoError> {
    Err(NoError)
}

fn main() {
    let _queue = Queue::with_worker(Ring::new()).start(send);
}
