//! An example of a backend: jobs as files in a folder, for any number of processes on one machine.
//!
//! It is written as a third party would write one, against `queue-core` alone; `docs/writing-a-backend.md` walks through it.
//!
//! # The folder
//!
//! | folder | what is in it |
//! |---|---|
//! | `tmp` | files that are being written |
//! | `ready` | what could start now |
//! | `waiting` | what waits for its time |
//! | `held/<consumer>` | what is handed out |
//! | `alive` | a locked file for each consumer |
//! | `dead` | what will not be tried again |
//!
//! A message is one file, and each of its steps is one `rename`, which is whole or not at all. A consumer that dies, by SIGKILL too, loses
//! its lock, and whoever looks next makes ready what it held, with one more attempt spent.
//!
//! # Jobs of other programs
//!
//! Write the body into `tmp`, then rename it into `ready` under a name that is not hidden: `mv tmp/order.json ready/`. The whole file is the body, and
//! its content type is taken to be that of the codec. A file whose name ends in `.msg` begins with metadata: see [`Message`].
//!
//! # What does not hold
//!
//! - A consumer that hangs keeps its jobs: there are no leases. Set a timeout.
//! - Jobs of other processes are seen at the next look, 50 ms later at most unless set otherwise.
//! - The folder is on a local disk of a Unix system: locks of network file systems differ.

#![forbid(unsafe_code)]

mod alive;
mod claim;
mod folder;
mod message;
mod name;
mod operate;
mod publish;
mod settle;
mod spool;
mod worker;

pub use claim::Claim;
pub use folder::Folder;
pub use message::Message;
pub use worker::FileWorker;
