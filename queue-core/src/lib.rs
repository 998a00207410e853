//! The contract between the queue engine and its brokers.
//!
//! Users depend on the crate `queue`; this one is for whoever writes a backend. [`Worker`] is what a backend implements.

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
mod worker;

pub use backoff::{Backoff, InvalidBackoff};
pub use capabilities::{Capabilities, Delays, Durability, Feature, Leases, Priorities, Retries, Tier};
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
pub use verdict::{Cause, Reason, Verdict};
pub use worker::{Demand, Room, Worker};
