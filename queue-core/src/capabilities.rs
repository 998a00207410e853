//! What a worker can do, as types and as values.

use std::fmt;

use crate::{Extra, Worker};

/// Something that not every broker can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// [`Retries`]: a job whose attempt failed is handed out again.
    Retries,
    /// [`Delays`]: a job is handed out after a wait that survives this process where the tier says so.
    Delays,
    /// [`Priorities`]: higher first.
    Priorities,
    /// [`Leases`]: a delivery stays ours for a time that is extended while the handler runs.
    Leases,
    /// [`DeadLetters`](crate::DeadLetters): a job that ended badly is kept, listed and put back.
    DeadLetters,
    /// [`Inspects`](crate::Inspects): counts of what waits.
    Inspects,
    /// [`Cancels`](crate::Cancels): a job that has not started is taken out by its id.
    Cancels,
    /// [`Pauses`](crate::Pauses): a pause of all consumer processes of the queue.
    Pauses,
    /// A fencing number that grows with each delivery of a job.
    Fence,
    /// A job that kills its process again and again is found and ended.
    CrashCap,
    /// Retries, back-off and timeout that one job brings along reach whoever runs it.
    JobOptions,
}

impl Feature {
    /// All of them, in the order of the published table.
    pub const ALL: [Self; 11] = [
        Self::Retries,
        Self::Delays,
        Self::Priorities,
        Self::Leases,
        Self::DeadLetters,
        Self::Inspects,
        Self::Cancels,
        Self::Pauses,
        Self::Fence,
        Self::CrashCap,
        Self::JobOptions,
    ];

    /// Its name in messages and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retries => "retries",
            Self::Delays => "delays",
            Self::Priorities => "priorities",
            Self::Leases => "leases",
            Self::DeadLetters => "dead letters",
            Self::Inspects => "inspection",
            Self::Cancels => "cancel by id",
            Self::Pauses => "pause",
            Self::Fence => "fencing number",
            Self::CrashCap => "crash cap",
            Self::JobOptions => "options of a job's own",
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How well a worker does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Tier {
    /// The broker does it.
    Native,
    /// The backend does it with what the broker has, and no crash opens a gap.
    EmulatedDurable,
    /// The backend does it in this process's memory: a crash loses it. Only where a user asked for it by name.
    EmulatedVolatile,
    /// It cannot be had. Asking for it is an error.
    #[default]
    Absent,
}

impl Tier {
    /// Whether it can be had at all.
    #[must_use]
    pub const fn is_present(self) -> bool {
        !matches!(self, Self::Absent)
    }
}

/// What an accepted job survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// Nothing: it dies with this process. What has not started is drained at shutdown, and the rest is given back.
    Process,
    /// The end of this process, not that of the broker.
    Broker,
    /// A restart of the broker.
    Restart,
    /// The loss of a broker node.
    Replicated,
}

/// Within what jobs that one producer queued are handed out in their order: to one slot, while none fails, is delayed or has a priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Order {
    /// None is promised.
    #[default]
    Unordered,
    /// A part of the queue, such as a partition.
    Part,
    /// The whole queue.
    Queue,
}

/// What one worker can do, known since it was made.
///
/// ```
/// use queue_core::{Capabilities, Durability, Feature, Tier};
/// let can = Capabilities::new("memory", Durability::Process).with(Feature::Delays, Tier::Native);
/// assert!(can.has(Feature::Delays));
/// assert_eq!(can.tier(Feature::Leases), Tier::Absent);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Capabilities {
    /// The backend's name, as it stands in error messages: `memory`, `redis`, `amqp`, `kafka`.
    pub backend: &'static str,
    /// The queue's name at the broker, where there is one.
    pub queue: Option<Box<str>>,
    /// The broker's version, where there is a broker.
    pub server: Option<Box<str>>,
    /// What an accepted job survives.
    pub durability: Durability,
    /// How many deliveries a slot may take ahead: 64 on the ring, 1 from a broker, where nothing is fetched that could not start now.
    pub share: usize,
    /// The largest body in bytes, where there is a limit.
    pub max_body: Option<usize>,
    /// Within what it keeps jobs in order.
    pub order: Order,
    tiers: [Tier; Feature::ALL.len()],
}

impl Capabilities {
    /// A worker that can do nothing but queue, hand out one at a time, and settle.
    #[must_use]
    pub const fn new(backend: &'static str, durability: Durability) -> Self {
        Self {
            backend,
            queue: None,
            server: None,
            durability,
            share: 1,
            max_body: None,
            order: Order::Unordered,
            tiers: [Tier::Absent; Feature::ALL.len()],
        }
    }

    /// With `feature` at `tier`.
    #[must_use]
    pub const fn with(mut self, feature: Feature, tier: Tier) -> Self {
        self.tiers[feature as usize] = tier;
        self
    }

    /// With up to `share` deliveries ahead in each slot, at least 1.
    #[must_use]
    pub const fn with_share(mut self, share: usize) -> Self {
        self.share = if share == 0 { 1 } else { share };
        self
    }

    /// How well it does `feature`.
    #[must_use]
    pub const fn tier(&self, feature: Feature) -> Tier {
        self.tiers[feature as usize]
    }

    /// What a job with these options asks for and the worker does not have.
    #[must_use]
    pub fn refuses(&self, extra: &Extra) -> Option<Feature> {
        let asked = [
            (extra.delay.is_some(), Feature::Delays),
            (extra.priority > 0, Feature::Priorities),
            (extra.retries.is_some_and(|retries| retries > 0), Feature::Retries),
            (extra.retries.is_some() || extra.backoff.is_some() || extra.timeout.is_some(), Feature::JobOptions),
        ];
        asked.into_iter().find_map(|(asked, feature)| (asked && !self.has(feature)).then_some(feature))
    }

    /// Whether it does `feature` at all.
    #[must_use]
    pub const fn has(&self, feature: Feature) -> bool {
        self.tier(feature).is_present()
    }
}

/// A worker that hands a failed job out again.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot retry a job",
    label = "this worker keeps no copy of a job that has started",
    note = "leave `.retry(..)` out, or choose a worker that retries (`Ring::new()` does for jobs that are `Clone`)"
)]
pub trait Retries: Worker {}

/// A worker that hands a job out after a wait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot delay a job",
    label = "this worker has no delays",
    note = "enqueue the job when it is due, or choose a worker with delays (the ring, Redis, RabbitMQ and Kafka have them)"
)]
pub trait Delays: Worker {}

/// A worker that hands out jobs of a higher priority first.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no priorities",
    label = "this worker hands jobs out in order",
    note = "use one queue per priority, or choose a worker with priorities (the ring and Redis have them)"
)]
pub trait Priorities: Worker {}

/// A worker whose deliveries stay ours for a time that is extended while the handler runs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no leases",
    label = "this worker cannot take a job away from a consumer process that hangs",
    note = "set a `.timeout(..)` instead, or choose a worker with leases (Redis has them)"
)]
pub trait Leases: Worker {}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_cannot_be_kept_is_named() {
        let can = Capabilities::new("test", Durability::Restart).with(Feature::Retries, Tier::Native);
        let asks = |change: fn(&mut Extra)| {
            let mut extra = Extra::default();
            change(&mut extra);
            can.refuses(&extra)
        };
        assert_eq!(asks(|_| ()), None);
        assert_eq!(asks(|extra| extra.delay = Some(Duration::ZERO)), Some(Feature::Delays));
        assert_eq!(asks(|extra| extra.priority = 1), Some(Feature::Priorities));
        assert_eq!(asks(|extra| extra.retries = Some(0)), Some(Feature::JobOptions));
        assert_eq!(asks(|extra| extra.timeout = Some(Duration::MAX)), Some(Feature::JobOptions));
    }
}
