//! Which connections are open, and how they are told to end.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::settings::Ending;

/// Tells a connection to end; closed once it has.
pub(super) type Order = Arc<watch::Sender<Option<Ending>>>;

#[derive(Debug, Default)]
struct Open {
    accepted: u64,
    orders: BTreeMap<u64, Order>,
}

/// All open connections.
#[derive(Debug, Default)]
pub(super) struct Registry(Mutex<Open>);

impl Registry {
    /// Counts a new connection, which is open until the entry is dropped.
    pub(super) fn enter(self: &Arc<Self>) -> Entry {
        let (order, told) = watch::channel(None);
        let mut open = self.0.lock();
        open.accepted += 1;
        let number = open.accepted;
        open.orders.insert(number, Arc::new(order));
        Entry { number, told, registry: Arc::clone(self) }
    }

    /// Tells all open connections to end, and which these are. The first order that a connection hears stands.
    pub(super) fn end_all(&self, ending: Ending) -> Vec<Order> {
        let orders: Vec<Order> = self.0.lock().orders.values().map(Arc::clone).collect();
        for order in &orders {
            order.send_if_modified(|told| {
                let first = told.is_none();
                told.get_or_insert(ending);
                first
            });
        }
        orders
    }

    pub(super) fn open(&self) -> usize {
        self.0.lock().orders.len()
    }

    pub(super) fn accepted(&self) -> u64 {
        self.0.lock().accepted
    }
}

/// An open connection's place in the registry.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) number: u64,
    pub(super) told: watch::Receiver<Option<Ending>>,
    registry: Arc<Registry>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        // The lock is given back before the order is dropped.
        let order = self.registry.0.lock().orders.remove(&self.number);
        drop(order);
    }
}
