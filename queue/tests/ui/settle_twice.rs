//! C-2: a delivery is settled once: settling takes it.
use queue::core::{DeliveryOf, Settling, Verdict, Worker};

fn twice<W: Worker>(delivery: DeliveryOf<W>) {
    let first = Settling::new(delivery.into(), Verdict::Ack);
    let second = Settling::new(delivery.into(), Verdict::Ack);
    drop((first, second));
}

fn main() {}
