//! Publishing: whole files, one after the other, and then the folder that they are in.

use std::io::{self, ErrorKind};
use std::time::Duration;

use queue_core::{Entry, JobId, Refusal, WorkerError};

use crate::message::Message;
use crate::name::Name;
use crate::settle::place;
use crate::spool::{READY, Spool, WAITING};

/// A job on its way to the disk.
pub(crate) struct Outgoing {
    /// Where its entry stands.
    pub(crate) at: usize,
    pub(crate) id: JobId,
    pub(crate) after: Duration,
    pub(crate) message: Message,
}

/// What the disk said.
pub(crate) enum Stored {
    /// It is there, and stays.
    Yes,
    /// Nothing is left of it.
    No(io::Error),
    /// It is there, and may not survive the machine.
    Perhaps,
}

impl Stored {
    /// The answer to an entry that is unconfirmed so far. True: accepted.
    pub(crate) fn answer<J>(self, entry: &mut Entry<J>, id: JobId) -> bool {
        match self {
            Self::Yes => drop(entry.accept(id)),
            Self::No(error) => entry.refuse(refusal(error)),
            Self::Perhaps => {}
        }
        entry.accepted().is_some()
    }
}

/// Writes a batch, in its order.
pub(crate) fn store(spool: &Spool, batch: &[Outgoing]) -> Vec<Stored> {
    let put = batch.iter().map(|job| {
        let name = Name { seq: spool.number(), id: job.id, spent: 0, bare: false };
        let (folder, to) = place(spool, name, job.after);
        spool.write(&job.message.encode(), &to).map(|()| folder)
    });
    let put: Vec<io::Result<&str>> = put.collect();
    let has = |folder| put.iter().flatten().any(|it| *it == folder);
    let lost = [READY, WAITING].map(|folder| (folder, has(folder) && spool.sync(folder).is_err()));
    let stored = put.into_iter().map(|put| match put {
        Err(error) => Stored::No(error),
        Ok(folder) if lost.contains(&(folder, true)) => Stored::Perhaps,
        Ok(folder) => {
            if folder == READY {
                spool.wake();
            }
            Stored::Yes
        }
    });
    stored.collect()
}

fn refusal(error: io::Error) -> Refusal {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Refusal::Full,
        ErrorKind::NotFound => Refusal::Unroutable,
        _ => Refusal::Rejected(WorkerError::retry("the job's file could not be written").with_source(error)),
    }
}
