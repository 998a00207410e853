//! E-41: a service answers what a handler may return.
use queue::{Queue, Ring, service};

fn main() {
    let count = tower::service_fn(async |text: String| Ok::<usize, std::io::Error>(text.len()));
    let _queue = Queue::with_worker(Ring::new()).start(service(count));
}
