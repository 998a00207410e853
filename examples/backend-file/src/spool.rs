//! A queue on disk: its folders, and the few steps that move a file between them.

use std::collections::VecDeque;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use queue_core::{IdSource, JobId};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::alive;
use crate::name::{Name, split};

/// Written here, then moved: a file is whole before anybody sees it.
pub(crate) const TMP: &str = "tmp";
/// What could start now.
pub(crate) const READY: &str = "ready";
/// What waits for its time: `<due, in ms since the epoch>-<name>`.
pub(crate) const WAITING: &str = "waiting";
/// What is handed out: a folder a consumer, `<claim>-<name>`.
pub(crate) const HELD: &str = "held";
/// A locked file a consumer that lives.
pub(crate) const ALIVE: &str = "alive";
/// What will not be tried again.
pub(crate) const DEAD: &str = "dead";

/// One queue's folders, as one consumer sees them. All of its calls block, but [`wake`](Self::wake) and [`is_due`](Self::is_due).
pub(crate) struct Spool {
    root: PathBuf,
    /// The name of this consumer, and the lock that says that it lives.
    me: String,
    _alive: File,
    poll: Duration,
    synced: bool,
    ids: Mutex<IdSource>,
    /// The last number that a name or a claim got.
    last: AtomicU64,
    lobby: Mutex<Lobby>,
    looking: Mutex<()>,
    pub(crate) woken: Notify,
}

/// What was seen in `ready`, and when to look again.
struct Lobby {
    names: VecDeque<String>,
    /// Something became ready since.
    stale: bool,
    look_at: Instant,
}

impl Lobby {
    /// Whether a poll has passed; then the next one begins.
    fn is_time(&mut self, poll: Duration) -> bool {
        let now = Instant::now();
        let is_time = now >= self.look_at;
        if is_time {
            self.look_at = now + poll;
            self.stale = true;
        }
        is_time
    }
}

impl Spool {
    pub(crate) fn open(root: PathBuf, poll: Duration, synced: bool) -> io::Result<Self> {
        for folder in [TMP, READY, WAITING, HELD, ALIVE, DEAD] {
            fs::create_dir_all(root.join(folder))?;
        }
        let mut ids = IdSource::new();
        let me = ids.take().to_string();
        // The lock first: a folder in `held` without one is an orphan.
        let lock = alive::lock(&root.join(ALIVE).join(&me))?.ok_or(ErrorKind::AlreadyExists)?;
        fs::create_dir(root.join(HELD).join(&me))?;
        let spool = Self {
            root,
            me,
            _alive: lock,
            poll,
            synced,
            ids: Mutex::new(ids),
            last: AtomicU64::new(0),
            lobby: Mutex::new(Lobby { names: VecDeque::new(), stale: true, look_at: Instant::now() }),
            looking: Mutex::default(),
            woken: Notify::new(),
        };
        spool.sync(Path::new(""))?;
        if let Some(base) = spool.root.parent() {
            spool.sync(base)?;
        }
        Ok(spool)
    }

    pub(crate) fn path(&self, folder: &str, file: &(impl fmt::Display + ?Sized)) -> PathBuf {
        self.root.join(folder).join(file.to_string())
    }

    /// A new path for a file of ours to be held under: no two claims share one, so a late verdict finds nothing.
    pub(crate) fn claim_path(&self, name: Name) -> PathBuf {
        self.root.join(HELD).join(&self.me).join(format!("{}-{name}", self.number()))
    }

    pub(crate) fn new_id(&self) -> JobId {
        self.ids.lock().take()
    }

    /// Microseconds since the epoch, or one more than the last.
    pub(crate) fn number(&self) -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        // Relaxed: only the number matters.
        let before = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(now.max(last + 1)));
        before.map_or(now, |last| now.max(last + 1))
    }

    // ===== Steps =====

    /// Files of a folder by name, those of other programs too; hidden ones are nobody's business.
    pub(crate) fn list(&self, folder: impl AsRef<Path>) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.root.join(folder))? {
            let entry = entry?;
            let name = entry.file_name().into_string().unwrap_or_default();
            if !name.is_empty() && !name.starts_with('.') && entry.file_type()?.is_file() {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Moves a file; false where it is gone.
    pub(crate) fn moved(&self, from: &Path, to: &Path) -> io::Result<bool> {
        self.unless_gone(fs::rename(from, to))
    }

    /// Removes a file; false where it is gone.
    pub(crate) fn removed(&self, file: &Path) -> io::Result<bool> {
        self.unless_gone(fs::remove_file(file))
    }

    /// A file that is not there was taken by somebody else; a whole queue that is not there is an error.
    pub(crate) fn unless_gone<T>(&self, answer: io::Result<T>) -> io::Result<bool> {
        match answer {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound && self.root.join(HELD).join(&self.me).is_dir() => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes a file elsewhere and moves it to its place, whole.
    pub(crate) fn write(&self, bytes: &[u8], to: &Path) -> io::Result<()> {
        let tmp = self.path(TMP, &format!("{}-{}", self.me, self.number()));
        let written = File::create_new(&tmp).and_then(|mut file| {
            file.write_all(bytes)?;
            if self.synced { file.sync_all() } else { Ok(()) }
        });
        let placed = written.and_then(|()| fs::rename(&tmp, to));
        if placed.is_err() {
            drop(fs::remove_file(&tmp));
        }
        placed
    }

    /// Makes what was moved into a folder survive the machine.
    pub(crate) fn sync(&self, folder: impl AsRef<Path>) -> io::Result<()> {
        if self.synced { File::open(self.root.join(folder))?.sync_all() } else { Ok(()) }
    }

    // ===== What is due =====

    /// Something may have become ready.
    pub(crate) fn wake(&self) {
        self.lobby.lock().stale = true;
        self.woken.notify_one();
    }

    /// Whether a look could find something.
    pub(crate) fn is_due(&self) -> bool {
        let lobby = self.lobby.lock();
        lobby.stale || !lobby.names.is_empty() || Instant::now() >= lobby.look_at
    }

    /// When it is looked again at the latest.
    pub(crate) fn look_at(&self) -> Instant {
        self.lobby.lock().look_at
    }

    /// The next file that may be there to be taken. Looks after what others left and what has waited long enough, at most once a poll, and reads
    /// `ready` when all that was seen there is gone.
    pub(crate) fn next(&self) -> io::Result<Option<String>> {
        // One thread looks at a time. The lobby is locked for moments only: slots ask it on threads that must not block.
        let _looks = self.looking.lock();
        if self.lobby.lock().is_time(self.poll) {
            self.adopt()?;
            self.promote()?;
        }
        let seen_all = {
            let mut lobby = self.lobby.lock();
            lobby.names.is_empty() && std::mem::take(&mut lobby.stale)
        };
        if seen_all {
            let names = self.list(READY)?;
            self.lobby.lock().names = names.into();
        }
        Ok(self.lobby.lock().names.pop_front())
    }

    /// Makes ready what has waited long enough.
    fn promote(&self) -> io::Result<()> {
        let now = queue_core::wire::now_ms();
        for file in self.list(WAITING)? {
            if let Some((_, name)) = split(&file).filter(|(due, _)| *due <= now) {
                self.moved(&self.path(WAITING, &file), &self.path(READY, &name))?;
            }
        }
        Ok(())
    }

    /// Makes ready again what a consumer held that is dead, with one more attempt spent: its handler may have started.
    fn adopt(&self) -> io::Result<()> {
        for consumer in fs::read_dir(self.root.join(HELD))? {
            let Ok(consumer) = consumer?.file_name().into_string() else { continue };
            // Locked: it lives (as this one does), or somebody is at it already.
            let Some(_dead) = alive::lock(&self.path(ALIVE, &consumer))? else { continue };
            let theirs = Path::new(HELD).join(&consumer);
            for file in self.list(&theirs).unwrap_or_default() {
                if let Some((_, name)) = split(&file) {
                    self.moved(&self.root.join(&theirs).join(&file), &self.path(READY, &name.after_attempt()))?;
                }
            }
            for file in self.list(TMP)?.iter().filter(|file| file.starts_with(&consumer)) {
                self.removed(&self.path(TMP, file))?;
            }
            // A folder that is not empty stays for the next look.
            if self.unless_gone(fs::remove_dir(self.root.join(&theirs))).is_ok() {
                self.removed(&self.path(ALIVE, &consumer))?;
            }
        }
        Ok(())
    }

    /// All that is handed out, by whomever.
    pub(crate) fn held(&self) -> io::Result<u64> {
        let mut held = 0;
        for consumer in fs::read_dir(self.root.join(HELD))? {
            held += self.list(Path::new(HELD).join(consumer?.file_name())).map_or(0, |files| files.len() as u64);
        }
        Ok(held)
    }
}
