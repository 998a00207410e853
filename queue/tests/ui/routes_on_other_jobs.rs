//! E-102: routes are for a queue whose jobs say their kind.
use queue::{Queue, Ring, Routes};

async fn send(_: String) {}

fn main() {
    let _queue = Queue::with_worker(Ring::<String>::new()).start(Routes::new().on("email", send));
}
