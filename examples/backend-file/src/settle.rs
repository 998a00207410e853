//! Verdicts, as steps on a file.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use queue_core::{Meta, Settled, UnsettledOf, Verdict, Worker, wire};

use crate::claim::{Claim, read};
use crate::name::Name;
use crate::spool::{DEAD, READY, Spool, WAITING};

/// One verdict, by value: a thread of its own carries it out while the delivery stays with whoever asked.
pub(crate) struct Order {
    path: PathBuf,
    name: Name,
    meta: Meta,
    verdict: Verdict,
}

impl Order {
    pub(crate) fn of<W: Worker<Receipt = Claim>>(unsettled: &UnsettledOf<W>, verdict: &Verdict) -> Self {
        let claim = &unsettled.receipt;
        let (path, name) = (claim.path.clone(), claim.name);
        Self { path, name, meta: unsettled.meta.clone(), verdict: verdict.clone() }
    }

    /// Does it: done, or lost where the file is not held any more.
    pub(crate) fn carry_out(&self, spool: &Spool, queue: &str) -> io::Result<Settled> {
        let ours = match &self.verdict {
            Verdict::Ack => spool.removed(&self.path)?,
            Verdict::Retry { after } => self.again(spool, self.name.after_attempt(), *after)?,
            Verdict::Return { after } => self.again(spool, self.name, *after)?,
            Verdict::Dead { .. } => self.bury(spool, queue)?,
        };
        Ok(if ours { Settled::Done } else { Settled::LostOwnership })
    }

    /// One `rename`: the job is never in two places, and never in none.
    fn again(&self, spool: &Spool, name: Name, after: Duration) -> io::Result<bool> {
        let (folder, to) = place(spool, name, after);
        let ours = spool.moved(&self.path, &to)?;
        spool.sync(folder)?;
        if folder == READY {
            spool.wake();
        }
        Ok(ours)
    }

    /// The reason is written into a copy. First the copy, then the original: a crash in between leaves two, and never none.
    fn bury(&self, spool: &Spool, queue: &str) -> io::Result<bool> {
        let there = read(&self.path, self.name);
        let Ok((mut message, head)) = there else { return spool.unless_gone(there) };
        if let Some(pairs) = wire::overrides(&self.meta, &self.verdict, head.enqueued_ms, queue) {
            message.set(pairs);
        }
        let name = Name { id: self.meta.id, spent: 0, bare: false, ..self.name };
        spool.write(&message.encode(), &spool.path(DEAD, &name))?;
        spool.sync(DEAD)?;
        spool.removed(&self.path)
    }
}

/// The folder and the path of a message that may start after a wait.
pub(crate) fn place(spool: &Spool, name: Name, after: Duration) -> (&'static str, PathBuf) {
    if after.is_zero() {
        (READY, spool.path(READY, &name))
    } else {
        (WAITING, spool.path(WAITING, &format!("{:013}-{name}", due_ms(after))))
    }
}

/// Rounded up: a wait is never cut short.
fn due_ms(after: Duration) -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.saturating_add(after).as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}
