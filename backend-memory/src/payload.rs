//! The ring's payload: the job itself.

use std::fmt;
use std::marker::PhantomData;

use queue_core::{Payload, Undecodable};

/// The mode of [`Ring::new`](crate::Ring::new): the job is cloned while a later attempt or a dead letter could need it.
#[derive(Debug, Clone, Copy)]
pub struct Cloned;

/// The mode of [`Ring::once`](crate::Ring::once): the job is moved into its handler, and never comes back.
#[derive(Debug, Clone, Copy)]
pub struct Moved;

/// What happens to a job when it starts: [`Cloned`] or [`Moved`].
pub trait Mode: sealed::Sealed + Send + Sync + Sized + 'static {
    /// Whether the ring has the job for another attempt.
    const RETRIES: bool;
}

impl Mode for Cloned {
    const RETRIES: bool = true;
}

impl Mode for Moved {
    const RETRIES: bool = false;
}

mod sealed {
    #[expect(unnameable_types, reason = "it seals `Mode`")]
    pub trait Sealed {}
    impl Sealed for super::Cloned {}
    impl Sealed for super::Moved {}
}

/// A job in the ring. `M` says what happens to it when it starts: [`Cloned`] or [`Moved`].
pub struct Own<J, M>(J, PhantomData<fn() -> M>);

impl<J, M> Own<J, M> {
    #[inline]
    pub(crate) const fn new(job: J) -> Self {
        Self(job, PhantomData)
    }
}

/// Shows no job.
impl<J, M> fmt::Debug for Own<J, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Own")
    }
}

impl<J: Clone + Send + 'static> Payload for Own<J, Cloned> {
    type Job = J;

    #[inline]
    fn take(self, keep: bool) -> (Result<J, Undecodable>, Option<Self>) {
        if keep { (Ok(self.0.clone()), Some(self)) } else { (Ok(self.0), None) }
    }
}

impl<J: Send + 'static> Payload for Own<J, Moved> {
    type Job = J;

    #[inline]
    fn take(self, _keep: bool) -> (Result<J, Undecodable>, Option<Self>) {
        (Ok(self.0), None)
    }
}
