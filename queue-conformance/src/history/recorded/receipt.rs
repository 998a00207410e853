//! The number of a delivery, on its receipt.

use queue_core::{Meta, Ownership, Receipt};

use crate::history::Recorder;
use crate::history::event::{Delivered, Delivery, Event, Hex};

/// The receipt of a [`Recorded`](super::Recorded) worker: the inner one, and what the log calls the delivery.
///
/// Dropped without a verdict, it notes that the delivery was given up.
#[derive(Debug)]
pub struct Noted<R> {
    inner: Option<R>,
    /// None: the delivery was settled, or never was one.
    number: Option<u64>,
    recorder: Recorder,
}

impl<R: Receipt> Noted<R> {
    /// Notes a delivery.
    pub(super) fn deliver(meta: &Meta, receipt: R, recorder: &Recorder) -> Self {
        let d = recorder.delivery();
        let fence = receipt.fence();
        recorder.note(Event::Delivered(Delivered { d, id: Hex(meta.id.get()), a: meta.attempt, fence }));
        Self::again(d, receipt, recorder)
    }

    /// The receipt of a delivery that was noted before.
    pub(super) fn again(number: u64, receipt: R, recorder: &Recorder) -> Self {
        Self { inner: Some(receipt), number: Some(number), recorder: recorder.clone() }
    }

    /// The receipt of a job that a shutdown hands over: no delivery.
    pub(super) fn handed_over(receipt: R, recorder: &Recorder) -> Self {
        Self { inner: Some(receipt), number: None, recorder: recorder.clone() }
    }

    /// Takes the place of a receipt that was taken.
    pub(super) fn empty(recorder: &Recorder) -> Self {
        Self { inner: None, number: None, recorder: recorder.clone() }
    }

    /// The inner receipt and the number. None for one that was taken, or was never delivered.
    pub(super) fn open(mut self) -> Option<(R, u64)> {
        Some((self.inner.take()?, self.number.take()?))
    }
}

impl<R> Drop for Noted<R> {
    fn drop(&mut self) {
        if let Some(d) = self.number {
            self.recorder.note(Event::GaveUp(Delivery { d }));
        }
    }
}

impl<R: Receipt> Receipt for Noted<R> {
    fn ownership(&self) -> Option<&Ownership> {
        self.inner.as_ref()?.ownership()
    }

    fn fence(&self) -> Option<u64> {
        self.inner.as_ref()?.fence()
    }
}
