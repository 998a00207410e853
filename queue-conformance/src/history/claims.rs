//! What the checker holds a run to: the first line of a log.

use serde::{Deserialize, Serialize};

/// The version of the format that this crate writes, and the newest that it reads.
pub const VERSION: u32 = 1;

/// In which order the first deliveries must come. Only jobs of one priority and without a delay are compared, and only where one was
/// confirmed before the other was asked for, or both in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Any.
    #[default]
    None,
    /// As published, among the jobs of one process.
    Producer,
    /// As published, among the jobs of one order key.
    Key,
    /// As published.
    Queue,
}

/// What `done` means as the answer to an ack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Acks {
    /// The job never comes again.
    #[default]
    Final,
    /// A kill or a cut may undo it: the job may come again, within the bound on duplicates.
    Lazy,
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
const fn is_yes(said: &bool) -> bool {
    *said
}

/// What the checker holds a run to. The default promises no order, allows any number of explained duplicates, and expects the handlers'
/// events.
///
/// ```
/// use queue_conformance::history::{Claims, Order};
/// let claims = Claims::new().order(Order::Queue).duplicates(8);
/// assert_eq!(claims.duplicates, Some(8));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Claims {
    history: u32,
    /// The order of first deliveries.
    #[serde(default)]
    pub order: Order,
    /// How many duplicates one kill, one cut, one lost ownership or one failed settle may cause. None: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u64>,
    /// Whether the log has the events of handlers. Without them nobody can say whether an ack came too early.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub handlers: bool,
    /// What `done` means for an ack.
    #[serde(default)]
    pub acks: Acks,
}

impl Claims {
    /// The default.
    #[must_use]
    pub const fn new() -> Self {
        Self { history: VERSION, order: Order::None, duplicates: None, handlers: true, acks: Acks::Final }
    }

    /// With this order.
    #[must_use]
    pub const fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// With at most so many duplicates for each event that may cause them.
    #[must_use]
    pub const fn duplicates(mut self, bound: u64) -> Self {
        self.duplicates = Some(bound);
        self
    }

    /// Without the events of handlers.
    #[must_use]
    pub const fn without_handlers(mut self) -> Self {
        self.handlers = false;
        self
    }

    /// With acks that a kill or a cut may undo.
    #[must_use]
    pub const fn lazy_acks(mut self) -> Self {
        self.acks = Acks::Lazy;
        self
    }
}

impl Default for Claims {
    fn default() -> Self {
        Self::new()
    }
}
