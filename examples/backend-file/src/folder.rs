//! Where the queues are, and how a worker is made.

use std::path::PathBuf;
use std::time::Duration;

use queue_core::{Capabilities, Codec, Durability, Feature, Order, Tier, WorkerError};

use crate::spool::Spool;
use crate::worker::FileWorker;

/// The largest body, in bytes: 1 MiB. A guess; bodies are read whole.
const MAX_BODY: usize = 1 << 20;
/// The longest name of a queue, in bytes: what leaves room in a path.
const MAX_NAME: usize = 100;

/// A folder with a queue in each of its folders.
///
/// ```
/// use backend_file::{FileWorker, Folder};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// # let place = tempfile::tempdir()?;
/// # let place = place.path();
/// let worker: FileWorker<String> = Folder::new(place).worker("emails").await?;
/// # drop(worker);
/// # Ok(())
/// # }) }
/// ```
#[derive(Debug, Clone)]
pub struct Folder {
    place: PathBuf,
    poll: Duration,
    synced: bool,
}

impl Folder {
    /// The folder at `place`; it is made where it is not there.
    #[must_use]
    pub fn new(place: impl Into<PathBuf>) -> Self {
        Self { place: place.into(), poll: Duration::from_millis(50), synced: true }
    }

    /// How often it is looked for jobs of other processes. Default: every 50 ms.
    #[must_use]
    pub const fn poll(mut self, every: Duration) -> Self {
        self.poll = every;
        self
    }

    /// Leaves files to the system's cache: faster, and what was accepted survives this process but not the machine.
    #[must_use]
    pub const fn unsynced(mut self) -> Self {
        self.synced = false;
        self
    }

    /// A worker of the queue `name`, with JSON bodies.
    ///
    /// # Errors
    /// As [`worker_with`](Self::worker_with).
    pub async fn worker<J>(&self, name: &str) -> Result<FileWorker<J>, WorkerError>
    where
        J: Send + 'static,
        queue_core::Json: Codec<J>,
    {
        self.worker_with(name, queue_core::Json::default()).await
    }

    /// A worker of the queue `name`; the queue is made where it is not there.
    ///
    /// # Errors
    /// The name is no safe name of a folder, or the folder cannot be used.
    ///
    /// # Cancel safety
    /// A dropped future may leave the empty folders of the queue.
    pub async fn worker_with<J: Send + 'static, C: Codec<J>>(
        &self,
        name: &str,
        codec: C,
    ) -> Result<FileWorker<J, C>, WorkerError> {
        let safe = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(safe) {
            // No capitals: some file systems take `a` and `A` for the same name.
            let rule = format!("the name of a queue is 1 to {MAX_NAME} of a-z, 0-9, `-` and `_`, and `{name}` is not");
            return Err(WorkerError::fatal(rule));
        }
        let (root, poll, synced) = (self.place.join(name), self.poll, self.synced);
        let opened = tokio::task::spawn_blocking(move || Spool::open(root, poll, synced)).await;
        let opened = opened.map_err(std::io::Error::other).and_then(|opened| opened);
        let spool = opened.map_err(|error| {
            let message = format!("the folder `{}` cannot be used: it must be writable", self.place.display());
            WorkerError::fatal(message).with_source(error)
        })?;
        Ok(FileWorker::new(spool, codec, self.capabilities(name)))
    }

    /// What holds, and no more.
    fn capabilities(&self, name: &str) -> Capabilities {
        let durability = if self.synced { Durability::Restart } else { Durability::Broker };
        let mut can = Capabilities::new("file", durability)
            .with(Feature::Retries, Tier::EmulatedDurable)
            .with(Feature::Delays, Tier::EmulatedDurable)
            .with(Feature::DeadLetters, Tier::EmulatedDurable)
            .with(Feature::Inspects, Tier::EmulatedDurable)
            .with(Feature::CrashCap, Tier::EmulatedDurable);
        can.queue = Some(name.into());
        // There is no server: this is the layout of the folder.
        can.server = Some("layout 1".into());
        can.max_body = Some(MAX_BODY);
        can.order = Order::Queue;
        can
    }
}
