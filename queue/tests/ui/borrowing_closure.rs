//! E-40: an async closure that borrows what it captures; the state of a context is the way.
use std::sync::Arc;

use queue::{Queue, Ring};

fn main() {
    let mailer = Arc::new(String::from("smtp"));
    let _queue = Queue::with_worker(Ring::new()).start(async move |to: String| drop((to, mailer.len())));
}
