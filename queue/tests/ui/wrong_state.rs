//! E-40: a context has the state that the queue was given.
use queue::{Context, Queue, Ring};

#[derive(Clone)]
struct Mailer;

async fn send(_: String, _: Context<Mailer>) {}

fn main() {
    let _queue = Queue::with_worker(Ring::new()).start(send);
}
