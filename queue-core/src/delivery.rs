//! A message on its way out: handed to a slot, and settled.

use crate::{Meta, Ownership, Verdict, Worker};

/// A message handed out, with what is needed to settle it.
#[derive(Debug)]
pub struct Delivery<P, R> {
    /// Id, attempt, age, headers.
    pub meta: Meta,
    /// The job, or what it is decoded from.
    pub payload: P,
    /// What the worker knows it by.
    pub receipt: R,
}

/// A delivery whose payload was taken: what [`Worker::settle`] consumes.
#[derive(Debug)]
pub struct Unsettled<P, R> {
    /// Id, attempt, age, headers.
    pub meta: Meta,
    /// There if [`Payload::take`] was asked to keep it, and on every worker that keeps it anyway.
    pub payload: Option<P>,
    /// What the worker knows it by.
    pub receipt: R,
}

impl<P, R> From<Delivery<P, R>> for Unsettled<P, R> {
    #[inline]
    fn from(delivery: Delivery<P, R>) -> Self {
        Self { meta: delivery.meta, payload: Some(delivery.payload), receipt: delivery.receipt }
    }
}

/// How a delivery carries its job.
///
/// On the ring it is the job; from a broker it is bytes and a codec ([`Encoded`](crate::Encoded)), decoded when a slot takes it.
pub trait Payload: Sized + Send + 'static {
    /// The job.
    type Job;

    /// Takes the job out, and itself back where `keep` asks for it.
    ///
    /// By value, so that a ring's payload is the job with no `Option` around it.
    /// With `keep` the payload comes back if it can: a later attempt or a dead letter could need it.
    /// Without, a worker may still return it (bytes cost nothing to keep). An undecodable payload always comes back.
    fn take(self, keep: bool) -> (Result<Self::Job, Undecodable>, Option<Self>);
}

/// Why a body is no job. It never shows the body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Undecodable(pub Box<str>);

/// What a worker knows a delivery by: a delivery tag, a stream id, an offset. The ring needs none: `()`.
pub trait Receipt: Send + 'static {
    /// The token that says whether the delivery is still ours, on a broker that can take it away.
    #[inline]
    fn ownership(&self) -> Option<&Ownership> {
        None
    }

    /// A number that grows with each delivery of one job, where the broker has what it takes.
    #[inline]
    fn fence(&self) -> Option<u64> {
        None
    }
}

impl Receipt for () {}

/// The delivery of a worker.
pub type DeliveryOf<W> = Delivery<<W as Worker>::Payload, <W as Worker>::Receipt>;
/// The unsettled delivery of a worker.
pub type UnsettledOf<W> = Unsettled<<W as Worker>::Payload, <W as Worker>::Receipt>;
/// The settling of a worker.
pub type SettlingOf<W> = Settling<<W as Worker>::Payload, <W as Worker>::Receipt>;

/// What became of a [`Settling`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Settled {
    /// The broker knows the verdict.
    Done,
    /// The delivery was no longer ours: somebody else has the job, and nothing was changed. A normal answer.
    LostOwnership,
    /// The job was moved into its handler and no copy was kept: it cannot be handed out again. Only of a retry or a return.
    Gone,
}

/// A delivery and its verdict, answered in place.
///
/// It holds its delivery until it is answered: a settle that fails or is dropped half way loses nothing.
///
/// ```
/// use queue_core::{Delivery, Meta, Settled, Settling, Verdict};
/// let delivery = Delivery { meta: Meta::default(), payload: "job", receipt: () };
/// let mut settling = Settling::new(delivery.into(), Verdict::Ack);
/// assert!(settling.asked().is_some());
/// let (unsettled, _verdict) = settling.answer(Settled::Done).unwrap();
/// assert_eq!(unsettled.payload, Some("job"));
/// assert_eq!(settling.answered(), Some(Settled::Done));
/// ```
#[derive(Debug)]
pub struct Settling<P, R>(pub(crate) State<P, R>);

#[derive(Debug)]
pub(crate) enum State<P, R> {
    Asked(Unsettled<P, R>, Verdict),
    Answered(Settled),
}

impl<P, R> Settling<P, R> {
    /// Asks for `verdict`.
    #[inline]
    #[must_use]
    pub const fn new(unsettled: Unsettled<P, R>, verdict: Verdict) -> Self {
        Self(State::Asked(unsettled, verdict))
    }

    /// What is asked, until it is answered.
    #[inline]
    #[must_use]
    pub const fn asked(&self) -> Option<(&Unsettled<P, R>, &Verdict)> {
        match &self.0 {
            State::Asked(unsettled, verdict) => Some((unsettled, verdict)),
            State::Answered(_) => None,
        }
    }

    /// The answer, once there is one.
    #[inline]
    #[must_use]
    pub const fn answered(&self) -> Option<Settled> {
        match self.0 {
            State::Asked(..) => None,
            State::Answered(settled) => Some(settled),
        }
    }

    /// Answers, and gives delivery and verdict to the worker. None where it was answered before: a delivery is settled once.
    #[inline]
    pub fn answer(&mut self, settled: Settled) -> Option<(Unsettled<P, R>, Verdict)> {
        match std::mem::replace(&mut self.0, State::Answered(settled)) {
            State::Asked(unsettled, verdict) => Some((unsettled, verdict)),
            State::Answered(first) => {
                self.0 = State::Answered(first);
                None
            }
        }
    }

    /// Takes the delivery back, unanswered: whoever asked gives up.
    #[must_use]
    pub fn into_asked(self) -> Option<(Unsettled<P, R>, Verdict)> {
        match self.0 {
            State::Asked(unsettled, verdict) => Some((unsettled, verdict)),
            State::Answered(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settling() -> Settling<&'static str, u32> {
        let delivery = Delivery { meta: Meta { attempt: 3, ..Meta::default() }, payload: "job", receipt: 7 };
        Settling::new(delivery.into(), Verdict::Ack)
    }

    #[test]
    fn an_answer_gives_the_delivery_once_and_a_second_changes_nothing() {
        let mut settling = settling();
        assert_eq!(settling.answered(), None);
        let (unsettled, verdict) = settling.answer(Settled::LostOwnership).unwrap();
        assert_eq!((unsettled.payload, unsettled.receipt, unsettled.meta.attempt), (Some("job"), 7, 3));
        assert!(matches!(verdict, Verdict::Ack));
        assert!(settling.answer(Settled::Done).is_none());
        assert_eq!(settling.answered(), Some(Settled::LostOwnership));
        assert!(settling.asked().is_none());
        assert!(settling.into_asked().is_none());
    }

    #[test]
    fn an_unanswered_settling_keeps_its_delivery() {
        let settling = settling();
        let (asked, verdict) = settling.asked().unwrap();
        assert_eq!((asked.payload, asked.receipt), (Some("job"), 7));
        assert!(matches!(verdict, Verdict::Ack));
        let (unsettled, _) = settling.into_asked().unwrap();
        assert_eq!((unsettled.payload, unsettled.receipt, unsettled.meta.attempt), (Some("job"), 7, 3));
    }
}
