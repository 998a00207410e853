//! E-41: each attempt has a clone of the service.
use queue::{Queue, Ring, service};
use std::task::{Context, Poll};

struct Printer;

impl tower::Service<String> for Printer {
    type Response = ();
    type Error = std::io::Error;
    type Future = std::future::Ready<Result<(), std::io::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), std::io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: String) -> Self::Future {
        std::future::ready(Ok(()))
    }
}

fn main() {
    let _queue = Queue::with_worker(Ring::new()).start(service(Printer));
}
