//! What a worker implements beside the contract, as values: for [`DynWorker`](crate::DynWorker), which cannot ask for types.

use async_trait::async_trait;

use crate::{Cancels, DeadLetter, DeadLetters, Inspection, Inspects, JobId, Page, Pauses, Worker, WorkerError};

/// The object-safe twin of [`Inspects`].
#[async_trait]
pub trait DynInspects: Send + Sync {
    /// [`Inspects::inspect`].
    async fn inspect(&self) -> Result<Inspection, WorkerError>;
}

#[async_trait]
impl<W: Inspects> DynInspects for W {
    async fn inspect(&self) -> Result<Inspection, WorkerError> {
        Inspects::inspect(self).await
    }
}

/// The object-safe twin of [`DeadLetters`].
#[async_trait]
pub trait DynDeadLetters<P>: Send + Sync {
    /// [`DeadLetters::dead_letters`].
    async fn dead_letters(&self, page: Page) -> Result<Vec<DeadLetter<P>>, WorkerError>;
    /// [`DeadLetters::replay`].
    async fn replay(&self, id: JobId) -> Result<bool, WorkerError>;
    /// [`DeadLetters::discard`].
    async fn discard(&self, id: JobId) -> Result<bool, WorkerError>;
}

#[async_trait]
impl<W: DeadLetters> DynDeadLetters<W::Payload> for W {
    async fn dead_letters(&self, page: Page) -> Result<Vec<DeadLetter<W::Payload>>, WorkerError> {
        DeadLetters::dead_letters(self, page).await
    }

    async fn replay(&self, id: JobId) -> Result<bool, WorkerError> {
        DeadLetters::replay(self, id).await
    }

    async fn discard(&self, id: JobId) -> Result<bool, WorkerError> {
        DeadLetters::discard(self, id).await
    }
}

/// The object-safe twin of [`Cancels`].
#[async_trait]
pub trait DynCancels<P>: Send + Sync {
    /// [`Cancels::cancel`].
    async fn cancel(&self, id: JobId) -> Result<Option<P>, WorkerError>;
}

#[async_trait]
impl<W: Cancels> DynCancels<W::Payload> for W {
    async fn cancel(&self, id: JobId) -> Result<Option<W::Payload>, WorkerError> {
        Cancels::cancel(self, id).await
    }
}

/// The object-safe twin of [`Pauses`].
#[async_trait]
pub trait DynPauses: Send + Sync {
    /// [`Pauses::pause`].
    async fn pause(&self) -> Result<(), WorkerError>;
    /// [`Pauses::unpause`].
    async fn unpause(&self) -> Result<(), WorkerError>;
    /// [`Pauses::is_paused`].
    async fn is_paused(&self) -> Result<bool, WorkerError>;
}

#[async_trait]
impl<W: Pauses> DynPauses for W {
    async fn pause(&self) -> Result<(), WorkerError> {
        Pauses::pause(self).await
    }

    async fn unpause(&self) -> Result<(), WorkerError> {
        Pauses::unpause(self).await
    }

    async fn is_paused(&self) -> Result<bool, WorkerError> {
        Pauses::is_paused(self).await
    }
}

/// What a worker implements beside the contract.
///
/// A backend that implements [`Inspects`] and [`Cancels`] answers [`Worker::facets`] with `Facets::none().inspects(self).cancels(self)`.
#[derive(Clone, Copy)]
#[must_use]
pub struct Facets<'a, W: Worker> {
    pub(crate) inspects: Option<&'a dyn DynInspects>,
    pub(crate) dead_letters: Option<&'a dyn DynDeadLetters<W::Payload>>,
    pub(crate) cancels: Option<&'a dyn DynCancels<W::Payload>>,
    pub(crate) pauses: Option<&'a dyn DynPauses>,
}

impl<'a, W: Worker> Facets<'a, W> {
    /// Nothing beside the contract.
    pub const fn none() -> Self {
        Self { inspects: None, dead_letters: None, cancels: None, pauses: None }
    }

    /// With counts.
    pub const fn inspects(mut self, worker: &'a dyn DynInspects) -> Self {
        self.inspects = Some(worker);
        self
    }

    /// What counts, where anything does.
    #[must_use]
    pub const fn inspector(&self) -> Option<&'a dyn DynInspects> {
        self.inspects
    }

    /// What keeps dead letters, where anything does.
    #[must_use]
    pub const fn letters(&self) -> Option<&'a dyn DynDeadLetters<W::Payload>> {
        self.dead_letters
    }

    /// What cancels by id, where anything does.
    #[must_use]
    pub const fn canceller(&self) -> Option<&'a dyn DynCancels<W::Payload>> {
        self.cancels
    }

    /// What pauses, where anything does.
    #[must_use]
    pub const fn pauser(&self) -> Option<&'a dyn DynPauses> {
        self.pauses
    }

    /// The same facets, as those of a worker that wraps this one and hands out the same payloads.
    ///
    /// A call through them goes past the wrapper; one that wants to see it names its own instead.
    ///
    /// ```
    /// use queue_core::{Facets, Worker};
    /// fn of_a_wrapper<'a, W, V>(inner: &'a W) -> Facets<'a, V>
    /// where
    ///     W: Worker,
    ///     V: Worker<Payload = W::Payload>,
    /// {
    ///     inner.facets().for_wrapper()
    /// }
    /// ```
    pub const fn for_wrapper<V: Worker<Payload = W::Payload>>(self) -> Facets<'a, V> {
        Facets { inspects: self.inspects, dead_letters: self.dead_letters, cancels: self.cancels, pauses: self.pauses }
    }

    /// With dead letters.
    pub const fn dead_letters(mut self, worker: &'a dyn DynDeadLetters<W::Payload>) -> Self {
        self.dead_letters = Some(worker);
        self
    }

    /// With cancel by id.
    pub const fn cancels(mut self, worker: &'a dyn DynCancels<W::Payload>) -> Self {
        self.cancels = Some(worker);
        self
    }

    /// With a pause everywhere.
    pub const fn pauses(mut self, worker: &'a dyn DynPauses) -> Self {
        self.pauses = Some(worker);
        self
    }
}

impl<W: Worker> std::fmt::Debug for Facets<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Facets")
            .field("inspects", &self.inspects.is_some())
            .field("dead_letters", &self.dead_letters.is_some())
            .field("cancels", &self.cancels.is_some())
            .field("pauses", &self.pauses.is_some())
            .finish()
    }
}
