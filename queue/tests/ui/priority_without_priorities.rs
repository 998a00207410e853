//! E-20: a worker without priorities takes none.
#[path = "stub/broker.rs"]
mod broker;

use broker::Broker;
use queue::Queue;

fn main() {
    let queue = Queue::with_worker(Broker::connect()).start(async |_: String| ()).unwrap();
    let _job = queue.job("first".to_owned()).priority(9);
}
