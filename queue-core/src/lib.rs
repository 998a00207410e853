//! The contract between the queue engine and its brokers.
//!
//! Users depend on the crate `queue`; this one is for whoever writes a backend. [`Worker`] is what a backend implements: its
//! numbered rules hold on every broker. Retry, timeout, panic, counts and shutdown live in the engine, once; a worker translates.
//!
//! # How the calls of a worker map to a broker
//!
//! The ring is in the crate `backend-memory`. For the three brokers this is the plan that the contract was shaped by; their
//! workers are not here yet.
//!
//! | | ring | Redis Streams | RabbitMQ | Kafka |
//! |---|---|---|---|---|
//! | [`try_one`](Worker::try_one) | while there is room | default | default | default |
//! | [`queue`](Worker::queue) | waits for room | `XADD`; delayed: a script | publish, mandatory, confirmed | produce, delivery report |
//! | [`request`](Worker::request) | pop under the lock | `XREADGROUP` of a reader task | `basic.consume` with a prefetch | poll thread, paused when no slot asks |
//! | [`Verdict::Ack`] | the drop of the delivery | `XACK` and `XDEL` | `basic.ack` | offset done, watermark committed |
//! | [`Verdict::Retry`] | due list | sorted set by server time | copy to a delay queue, then ack | copy to a retry topic, then done |
//! | [`Verdict::Dead`] | bounded list | dead stream | copy to the dead queue, then ack | copy to the dead topic, then done |
//! | [`Verdict::Return`] | back to the head | copy to the tail, then ack | copy, confirmed, then ack | back to the local lane |
//! | [`Ownership`] is lost | never | lease expired, entry claimed | channel or connection died | partition revoked |
//! | [`give_back`](Worker::give_back) | back to the head | default | default | default |
//! | [`shutdown`](Worker::shutdown) | hands over what never ran | stop the reader, flush, disconnect | cancel, flush, close | pause, commit, leave |
//!
//! **The ring.** `try_one` and `settle_now` need one lock, so that the engine never waits for a future that has
//! nothing to wait for. A request takes up to [`Capabilities::share`] deliveries, a fair part of the backlog, and `give_back` undoes
//! that when a handler turns out to be slow. An ack is the drop of the delivery ([`Worker::ACK_BY_DROP`]). The payload is the job
//! itself; [`Payload::take`] clones it only where another attempt or a dead letter could need it.
//!
//! **Redis Streams.** `queue` pipelines `XADD` and is confirmed by the entry's id; a reply that never came is *unconfirmed*. One task owns
//! a blocking reader connection, and `request` talks to it by channel, so that a dropped future loses no entry. Every verdict is one
//! script over many ids that first checks in `XPENDING` that the entry is still ours: gone or another's answers lost ownership. The
//! script makes the copy of a retry (hash and sorted set, by the server's clock) and of a dead letter in the same step as the ack. A
//! thread of its own renews the idle time of running entries; entries of dead consumers are taken over by `XAUTOCLAIM`, whose counter
//! gives the attempt.
//!
//! **RabbitMQ.** `queue` publishes with confirms and `mandatory`: an ack that carries a returned message is *unroutable*, a nack is a
//! refusal, silence is *unconfirmed*. `request` hands out what the consumer's stream has, with [`Demand`] as the prefetch. A receipt is a
//! delivery tag with the epoch of its channel: one of an older epoch is not sent and answers lost ownership, as does an ack that the
//! client could not send. Retry, dead letter and return publish a copy, wait for its confirmation, and only then ack, so a crash between
//! the two duplicates and never loses. Delays are a ladder of queues with a time to live each. Attempts travel in a header, plus the
//! redelivery count of a quorum queue.
//!
//! **Kafka.** `queue` is a produce whose delivery report is the confirmation. A thread of its own polls and feeds `request`; partitions
//! are paused while no slot asks, and polling goes on. There is no settling of one record: ack marks an offset done, and what is
//! committed is the lowest offset that is still open, with the done ones above it in the commit's metadata. Retry and dead letter produce
//! a copy to a topic of their own, then mark the offset. A revoked partition takes ownership of all its deliveries away, and a verdict
//! of an older assignment is not committed.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod backoff;
mod capabilities;
mod clock;
pub mod codec;
mod delivery;
mod entry;
mod erased;
mod error;
mod events;
mod facets;
mod headers;
mod id;
mod inspect;
mod meta;
mod ownership;
mod routed;
mod tally;
mod verdict;
pub mod wire;
mod worker;

pub use backoff::{Backoff, InvalidBackoff};
pub use capabilities::{Capabilities, Delays, Durability, Feature, Leases, Order, Priorities, Retries, Tier};
pub use clock::{Clock, Stamp};
#[cfg(feature = "bincode")]
pub use codec::Bincode;
#[cfg(feature = "json")]
pub use codec::Json;
#[cfg(feature = "messagepack")]
pub use codec::MessagePack;
#[cfg(feature = "postcard")]
pub use codec::Postcard;
pub use codec::{Codec, Encoded};
pub use delivery::{
    Delivery, DeliveryOf, Payload, Receipt, Settled, Settling, SettlingOf, Undecodable, Unsettled, UnsettledOf,
};
pub use entry::{Answer, Entry, Refusal};
pub use erased::{DynPayload, DynReceipt, DynWorker};
pub use error::{ErrorClass, RequestError, WorkerError};
pub use events::{Event, EventLog, Events};
pub use facets::{DynCancels, DynDeadLetters, DynInspects, DynPauses, Facets};
pub use headers::Headers;
pub use id::IdSource;
pub use inspect::{Cancels, DeadLetter, DeadLetters, Inspection, Inspects, Page, Pauses};
pub use meta::{Extra, InvalidJobId, JobId, Meta};
pub use ownership::{Loss, Ownership};
pub use routed::Routed;
pub use tally::Tally;
pub use verdict::{Cause, Reason, UnknownReason, Verdict};
pub use worker::{Demand, Room, Worker};
