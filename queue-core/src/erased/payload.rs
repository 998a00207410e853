//! One box a delivery: payload and receipt together.

use std::any::Any;
use std::fmt;

use crate::{Delivery, Ownership, Payload, Receipt, Undecodable, Unsettled};

/// The payload of a [`DynWorker`](super::DynWorker): any worker's payload and receipt.
///
/// The receipt is inside, so the box always comes back from [`take`](Payload::take), with the job in it or not.
pub struct DynPayload<J>(Box<dyn AnyPayload<J>>);

impl<J> fmt::Debug for DynPayload<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DynPayload")
    }
}

trait AnyPayload<J>: Send {
    fn take(&mut self, keep: bool) -> Result<J, Undecodable>;
    fn as_any(&mut self) -> &mut dyn Any;
}

struct Both<P, R> {
    payload: Option<P>,
    receipt: Option<R>,
}

impl<J, P: Payload<Job = J>, R: Receipt> AnyPayload<J> for Both<P, R> {
    fn take(&mut self, keep: bool) -> Result<J, Undecodable> {
        let Some(payload) = self.payload.take() else { return Err(Undecodable("the job was taken before".into())) };
        let (job, kept) = payload.take(keep);
        self.payload = kept;
        job
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl<J: Send + 'static> Payload for DynPayload<J> {
    type Job = J;

    fn take(mut self, keep: bool) -> (Result<J, Undecodable>, Option<Self>) {
        (self.0.take(keep), Some(self))
    }
}

/// The receipt of a [`DynWorker`](super::DynWorker): what the engine may ask of the worker's own.
#[derive(Debug, Default)]
pub struct DynReceipt {
    ownership: Option<Ownership>,
    fence: Option<u64>,
}

impl Receipt for DynReceipt {
    fn ownership(&self) -> Option<&Ownership> {
        self.ownership.as_ref()
    }

    fn fence(&self) -> Option<u64> {
        self.fence
    }
}

/// A worker's payload and receipt in one box.
pub(super) fn wrap<P: Payload, R: Receipt>(payload: Option<P>, receipt: R) -> (DynPayload<P::Job>, DynReceipt)
where
    P::Job: Send + 'static,
{
    let outside = DynReceipt { ownership: receipt.ownership().cloned(), fence: receipt.fence() };
    (DynPayload(Box::new(Both { payload, receipt: Some(receipt) })), outside)
}

/// The worker's own again. None for a box of another worker's making.
fn unwrap<P: Payload, R: Receipt>(mut boxed: DynPayload<P::Job>) -> Option<(Option<P>, R)> {
    let both = boxed.0.as_any().downcast_mut::<Both<P, R>>()?;
    Some((both.payload.take(), both.receipt.take()?))
}

pub(super) fn wrap_delivery<P: Payload, R: Receipt>(
    delivery: Delivery<P, R>,
) -> Delivery<DynPayload<P::Job>, DynReceipt>
where
    P::Job: Send + 'static,
{
    let (payload, receipt) = wrap(Some(delivery.payload), delivery.receipt);
    Delivery { meta: delivery.meta, payload, receipt }
}

pub(super) fn unwrap_delivery<P: Payload, R: Receipt>(
    delivery: Delivery<DynPayload<P::Job>, DynReceipt>,
) -> Option<Delivery<P, R>> {
    let (payload, receipt) = unwrap(delivery.payload)?;
    Some(Delivery { meta: delivery.meta, payload: payload?, receipt })
}

pub(super) fn wrap_unsettled<P: Payload, R: Receipt>(
    unsettled: Unsettled<P, R>,
) -> Unsettled<DynPayload<P::Job>, DynReceipt>
where
    P::Job: Send + 'static,
{
    let (payload, receipt) = wrap(unsettled.payload, unsettled.receipt);
    Unsettled { meta: unsettled.meta, payload: Some(payload), receipt }
}

pub(super) fn unwrap_unsettled<P: Payload, R: Receipt>(
    unsettled: Unsettled<DynPayload<P::Job>, DynReceipt>,
) -> Option<Unsettled<P, R>> {
    let (payload, receipt) = unwrap(unsettled.payload?)?;
    Some(Unsettled { meta: unsettled.meta, payload, receipt })
}
