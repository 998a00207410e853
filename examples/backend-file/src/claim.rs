//! A delivery, as the folder knows it: taken by one `rename`, given back by another.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fmt, fs, io};

use queue_core::wire::Head;
use queue_core::{Receipt, Undecodable};

use crate::message::Message;
use crate::name::Name;
use crate::spool::{READY, Spool};

/// A file that is held. Dropped unsettled, it is made ready again.
pub struct Claim {
    spool: Arc<Spool>,
    pub(crate) path: PathBuf,
    pub(crate) name: Name,
    /// It has left the worker, so its handler may have started.
    handed_out: bool,
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim").field("id", &self.name.id).finish_non_exhaustive()
    }
}

// No token and no fencing number: a job is taken away from a process that is dead, and from no other.
impl Receipt for Claim {}

impl Drop for Claim {
    fn drop(&mut self) {
        let name = if self.handed_out { self.name.after_attempt() } else { self.name };
        // A settled one is gone. One that cannot be moved now is adopted once this process has ended.
        if self.spool.moved(&self.path, &self.spool.path(READY, &name)).is_ok_and(|moved| moved) {
            self.spool.wake();
        }
    }
}

/// A claim with what its file says.
pub(crate) struct Claimed {
    pub(crate) claim: Claim,
    pub(crate) message: Message,
    pub(crate) head: Head,
}

impl Claimed {
    /// From now on it is the engine's: an attempt may have begun.
    pub(crate) fn hand_out(mut self) -> (Claim, Message, Head) {
        self.claim.handed_out = true;
        (self.claim, self.message, self.head)
    }
}

/// Takes up to `max` of what is ready.
pub(crate) fn claim(spool: &Arc<Spool>, max: usize) -> io::Result<Vec<Claimed>> {
    let mut claimed = Vec::new();
    while let Some(file) = spool.next()? {
        claimed.extend(take(spool, &file)?);
        if claimed.len() == max {
            // Another slot may be waiting for what is left.
            spool.woken.notify_one();
            break;
        }
    }
    Ok(claimed)
}

/// Takes one file; none where somebody else was quicker.
fn take(spool: &Arc<Spool>, file: &str) -> io::Result<Option<Claimed>> {
    // A file of another program gets a name of ours, once: its id stays, and it never replaces a file of the same name.
    let stranger = || Name { seq: spool.number(), id: spool.new_id(), spent: 0, bare: !file.ends_with(".msg") };
    let name = Name::parse(file).unwrap_or_else(stranger);
    let path = spool.claim_path(name);
    if !spool.moved(&spool.path(READY, file), &path)? {
        return Ok(None);
    }
    let claim = Claim { spool: spool.clone(), path, name, handed_out: false };
    let (message, head) = read(&claim.path, name)?;
    Ok(Some(Claimed { claim, message, head }))
}

/// What a file says, by its name and in itself.
pub(crate) fn read(path: &std::path::Path, name: Name) -> io::Result<(Message, Head)> {
    let bytes = fs::read(path)?;
    let (message, broken) = decoded(bytes, name.bare);
    let mut head = Head::read(message.pairs.iter().map(|(name, value)| (&**name, value.clone())));
    head.broken = broken.or(head.broken);
    head.id.get_or_insert(name.id);
    if head.enqueued_ms.is_none() {
        let since = fs::metadata(path)?.modified()?.duration_since(SystemTime::UNIX_EPOCH);
        head.enqueued_ms = u64::try_from(since.unwrap_or(Duration::ZERO).as_millis()).ok();
    }
    Ok((message, head))
}

/// A file without a head that can be read is a body, and says why it is no job.
fn decoded(bytes: Vec<u8>, bare: bool) -> (Message, Option<Undecodable>) {
    let body = bytes::Bytes::from(bytes);
    let whole = Message { body: body.clone(), ..Message::default() };
    if bare {
        return (whole, None);
    }
    match Message::decode(body) {
        Ok(message) => (message, None),
        Err(why) => (whole, Some(why)),
    }
}
