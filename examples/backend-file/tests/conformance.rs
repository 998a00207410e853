//! The file worker passes the suite: directly, behind its erased type, and without waiting for the disk.

#![allow(clippy::unwrap_used, reason = "a test's hand on the folder fails its test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use backend_file::{FileWorker, Folder, Message};
use queue_conformance::{
    AnyCodec, Backend, Boxed, Fault, Job, Markers, NotOffered, Operator, RawCounts, RawMessage, markers, suite,
};
use queue_core::WorkerError;
use tempfile::TempDir;

/// A folder of its own for each row; it is removed with the backend.
struct Files {
    place: TempDir,
    folder: Folder,
    synced: bool,
}

impl Files {
    fn new(synced: bool) -> Self {
        let place = tempfile::tempdir().unwrap();
        // Within a folder that is there while the broker is `Down`.
        let folder = Folder::new(place.path().join("queues")).poll(Duration::from_millis(20));
        Self { place, folder: if synced { folder } else { folder.unsynced() }, synced }
    }

    fn queues(&self) -> PathBuf {
        self.place.path().join("queues")
    }
}

impl Backend for Files {
    type Worker = FileWorker<Job, AnyCodec>;

    async fn connect(&self, queue: &str, codec: AnyCodec) -> Result<Self::Worker, WorkerError> {
        self.folder.worker_with(queue, codec).await
    }

    // It has no leases: this is only how long the suite waits where a lease would matter.
    fn lease(&self) -> Duration {
        Duration::from_millis(300)
    }

    fn takeover(&self) -> Duration {
        Duration::from_millis(300)
    }

    fn markers(&self) -> Option<Markers> {
        Some(markers!(FileWorker<Job, AnyCodec>))
    }

    fn operator(&self) -> Option<&dyn Operator> {
        Some(self)
    }

    fn sibling(&self) -> Option<Self> {
        Some(Self::new(!self.synced))
    }
}

/// Moves the folder of new files away in each queue, or back: nothing is stored then, and what is there can still be moved and removed.
fn set_full(queues: &Path, full: bool) {
    let (from, to) = if full { ("tmp", "tmp.away") } else { ("tmp.away", "tmp") };
    for queue in fs::read_dir(queues).unwrap() {
        let queue = queue.unwrap().path();
        fs::rename(queue.join(from), queue.join(to)).unwrap();
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// Files as another program reads them.
fn messages(folder: &Path) -> Vec<RawMessage> {
    let read = |path: PathBuf| {
        let message = Message::decode(fs::read(path).unwrap().into()).unwrap();
        RawMessage { body: message.body, pairs: message.pairs }
    };
    files(folder).into_iter().map(read).collect()
}

fn count(folder: &Path) -> u64 {
    files(folder).len() as u64
}

#[async_trait]
impl Operator for Files {
    // There are no connections to cut and no process to restart, and a file system does not count what it refuses.
    async fn inject(&self, fault: Fault<'_>) -> Result<(), NotOffered> {
        let (queues, away) = (self.queues(), self.place.path().join("away"));
        match fault {
            Fault::Down => fs::rename(queues, away).unwrap(),
            Fault::Up => fs::rename(away, queues).unwrap(),
            Fault::Full => set_full(&queues, true),
            Fault::Roomy => set_full(&queues, false),
            Fault::Delete(queue) => fs::remove_dir_all(queues.join(queue)).unwrap(),
            _ => return Err(NotOffered),
        }
        Ok(())
    }

    async fn publish(&self, queue: &str, message: RawMessage) -> Result<(), NotOffered> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let bare = message.pairs.is_empty();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("order-{number}.{}", if bare { "json" } else { "msg" });
        let queue = self.queues().join(queue);
        let message = Message { pairs: message.pairs, body: message.body };
        let bytes = if bare { message.body.to_vec() } else { message.encode() };
        fs::write(queue.join("tmp").join(&name), bytes).unwrap();
        fs::rename(queue.join("tmp").join(&name), queue.join("ready").join(&name)).unwrap();
        Ok(())
    }

    async fn waiting(&self, queue: &str) -> Result<Vec<RawMessage>, NotOffered> {
        Ok(messages(&self.queues().join(queue).join("ready")))
    }

    async fn dead(&self, queue: &str) -> Result<Vec<RawMessage>, NotOffered> {
        Ok(messages(&self.queues().join(queue).join("dead")))
    }

    async fn counts(&self, queue: &str) -> Result<RawCounts, NotOffered> {
        let queue = self.queues().join(queue);
        let held = fs::read_dir(queue.join("held")).unwrap().map(|entry| count(&entry.unwrap().path())).sum();
        Ok(RawCounts { ready: count(&queue.join("ready")), unsettled: held, dead: count(&queue.join("dead")) })
    }
}

mod direct {
    use super::*;
    suite!(Files::new(true), unproven: ["C-3", "C-9", "C-14", "C-17", "C-21", "C-44", "C-45"]);
}

/// Without waiting for the disk: the rows that restart a broker whose jobs survive that have nothing to restart here.
mod boxed {
    use super::*;
    suite!(Boxed(Files::new(false)), unproven: ["C-3", "C-9", "C-21", "C-44", "C-45"]);
}
