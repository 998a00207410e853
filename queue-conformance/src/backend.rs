//! What the suite needs to know of the worker under test.

use std::ffi::OsString;
use std::future::Future;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use queue_core::wire::Pairs;
use queue_core::{DynWorker, Worker, WorkerError};

use crate::{AnyCodec, Job};

/// How a test's time passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// By the clock on the wall, on a runtime of several threads: for whatever has a broker.
    Wall,
    /// By a clock that moves only while nothing else can happen, on one thread: exact and at once, for what lives in this process.
    Paused,
}

/// A worker under test: how to make one, and what else a test may do to its broker.
///
/// ```
/// use queue_conformance::{AnyCodec, Backend, Job, Time};
/// use queue_core::WorkerError;
/// # use queue::Ring;
/// struct Memory;
///
/// impl Backend for Memory {
///     type Worker = Ring<Job>;
///
///     async fn connect(&self, _queue: &str, _codec: AnyCodec) -> Result<Ring<Job>, WorkerError> {
///         Ok(Ring::new())
///     }
///
///     fn time(&self) -> Time {
///         Time::Paused
///     }
/// }
/// assert!(queue_conformance::run("C-12", || Memory).is_pass());
/// ```
pub trait Backend: Send + Sync + 'static {
    /// The worker.
    type Worker: Worker<Job = Job>;

    /// One more worker of the queue, as another consumer process would make it; the queue is made where it is not there.
    ///
    /// A worker whose jobs die with the process answers with a queue of its own each time.
    ///
    /// # Errors
    /// The name is refused, or the broker is away.
    fn connect(&self, queue: &str, codec: AnyCodec) -> impl Future<Output = Result<Self::Worker, WorkerError>> + Send;

    /// Workers of several queues over one connection; none where the backend has no such way.
    fn connect_many(
        &self,
        queues: &[String],
    ) -> impl Future<Output = Option<Result<Vec<Self::Worker>, WorkerError>>> + Send {
        let _ = queues;
        std::future::ready(None)
    }

    /// A worker whose broker may be away; none where the backend has no such way.
    fn connect_lazy(&self, queue: &str) -> Option<Self::Worker> {
        let _ = queue;
        None
    }

    /// How time passes in its tests.
    fn time(&self) -> Time {
        Time::Wall
    }

    /// How long a delivery stays its consumer's without a sign of life. Default: 10 s.
    fn lease(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// How long a job of a consumer that died waits at most until it is handed out again. Default: 15 s.
    fn takeover(&self) -> Duration {
        Duration::from_secs(15)
    }

    /// Whether its protocol blocks a connection for each queue that is read, as that of Redis does. Default: no.
    fn readers_block(&self) -> bool {
        false
    }

    /// Which marker traits the worker's type has: `Some(queue_conformance::markers!(MyWorker))`. None, for a type that has all and answers
    /// at run time.
    fn markers(&self) -> Option<Markers> {
        None
    }

    /// What a consumer process needs in its environment to find the same broker: for [`kill_suite!`](crate::kill_suite).
    fn environment(&self) -> Vec<(&'static str, OsString)> {
        Vec::new()
    }

    /// The hand on the broker, where there is one.
    fn operator(&self) -> Option<&dyn Operator> {
        None
    }

    /// The same backend on a server with other settings or of another version, whose table must differ.
    fn sibling(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// Which marker traits a worker's type implements; made by [`markers!`](crate::markers).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Markers(pub(crate) [bool; 8]);

impl Markers {
    #[doc(hidden)]
    #[must_use]
    pub const fn __of(markers: [bool; 8]) -> Self {
        Self(markers)
    }
}

/// Something that a test does to the broker, or to the way there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault<'a> {
    /// Every connection is cut, once. Workers make new ones by themselves.
    Cut,
    /// Connections that stand now go silent, both ways, and stay open; new ones work.
    Freeze,
    /// What went silent is heard again.
    Thaw,
    /// The broker ends and starts again with its data.
    Restart,
    /// The broker is away.
    Down,
    /// The broker is back.
    Up,
    /// It refuses the next publishes, so many jobs of them.
    RefusePublishes(usize),
    /// It takes the next publishes, so many jobs of them, and its confirmations are lost.
    LoseConfirms(usize),
    /// The next calls that settle fail on their way, so many of them.
    FailSettles(usize),
    /// It stores nothing (a full disk, no memory) but goes on acknowledging.
    Full,
    /// It stores again.
    Roomy,
    /// The queue is deleted behind the worker's back.
    Delete(&'a str),
}

/// A message as it is at the broker.
#[derive(Clone, Default)]
pub struct RawMessage {
    /// The whole body.
    pub body: Bytes,
    /// Names and values beside it, as [`wire`](queue_core::wire) names them.
    pub pairs: Pairs,
}

impl std::fmt::Debug for RawMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.pairs.iter().map(|(name, _)| &**name).collect();
        f.debug_struct("RawMessage").field("bytes", &self.body.len()).field("names", &names).finish()
    }
}

/// Counts of one queue as the broker's own tools tell them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RawCounts {
    /// Messages that could be handed out now.
    pub ready: u64,
    /// Messages handed out and not settled.
    pub unsettled: u64,
    /// Dead letters.
    pub dead: u64,
}

/// The suite asked for something that the backend does not offer to tests: what rests on it is not proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the backend does not offer this to tests")]
pub struct NotOffered;

/// The hand on the broker: faults, and a look past the worker.
///
/// What is not implemented is [`NotOffered`], and the rows that need it are reported as not proven. A call that fails for another reason panics:
/// the test fails with its words.
#[async_trait]
pub trait Operator: Send + Sync {
    /// Does it; ready once the effect is there.
    async fn inject(&self, fault: Fault<'_>) -> Result<(), NotOffered> {
        let _ = fault;
        Err(NotOffered)
    }

    /// Publishes a message as another program would.
    async fn publish(&self, queue: &str, message: RawMessage) -> Result<(), NotOffered> {
        let (_, _) = (queue, message);
        Err(NotOffered)
    }

    /// The messages that wait, without taking them.
    async fn waiting(&self, queue: &str) -> Result<Vec<RawMessage>, NotOffered> {
        let _ = queue;
        Err(NotOffered)
    }

    /// The dead letters, without taking them.
    async fn dead(&self, queue: &str) -> Result<Vec<RawMessage>, NotOffered> {
        let _ = queue;
        Err(NotOffered)
    }

    /// The broker's own counts.
    async fn counts(&self, queue: &str) -> Result<RawCounts, NotOffered> {
        let _ = queue;
        Err(NotOffered)
    }

    /// How many connections this backend has to the broker now.
    async fn connections(&self) -> Result<usize, NotOffered> {
        Err(NotOffered)
    }
}

/// The same backend behind [`Worker::boxed`]: its worker's type is erased.
#[derive(Debug, Clone)]
pub struct Boxed<B>(pub B);

impl<B: Backend> Backend for Boxed<B> {
    type Worker = DynWorker<Job>;

    async fn connect(&self, queue: &str, codec: AnyCodec) -> Result<DynWorker<Job>, WorkerError> {
        Ok(self.0.connect(queue, codec).await?.boxed())
    }

    async fn connect_many(&self, queues: &[String]) -> Option<Result<Vec<DynWorker<Job>>, WorkerError>> {
        let workers = self.0.connect_many(queues).await?;
        Some(workers.map(|workers| workers.into_iter().map(Worker::boxed).collect()))
    }

    fn connect_lazy(&self, queue: &str) -> Option<DynWorker<Job>> {
        Some(self.0.connect_lazy(queue)?.boxed())
    }

    fn time(&self) -> Time {
        self.0.time()
    }

    fn lease(&self) -> Duration {
        self.0.lease()
    }

    fn takeover(&self) -> Duration {
        self.0.takeover()
    }

    fn readers_block(&self) -> bool {
        self.0.readers_block()
    }

    fn environment(&self) -> Vec<(&'static str, OsString)> {
        self.0.environment()
    }

    fn operator(&self) -> Option<&dyn Operator> {
        self.0.operator()
    }

    fn sibling(&self) -> Option<Self> {
        self.0.sibling().map(Self)
    }
}
