//! E-41: a service is wrapped in `service`.
use queue::{Queue, Ring};

fn main() {
    let print = tower::service_fn(async |_: String| Ok::<(), std::io::Error>(()));
    let _queue = Queue::with_worker(Ring::new()).start(print);
}
