//! E-20: a closure is no job for a broker.
#[path = "stub/broker.rs"]
mod broker;

use broker::Broker;

type Closure = Box<dyn FnOnce() + Send>;

fn main() {
    let _worker = Broker::<Closure>::connect();
}
