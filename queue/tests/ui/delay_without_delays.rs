//! E-20: a worker without delays takes no delay.
#[path = "stub/broker.rs"]
mod broker;

use std::time::Duration;

use broker::Broker;
use queue::Queue;

fn main() {
    let queue = Queue::with_worker(Broker::connect()).start(async |_: String| ()).unwrap();
    let _job = queue.job("later".to_owned()).delay(Duration::from_secs(1));
}
