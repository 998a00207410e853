//! Emails: a job that waits for the disk.

use queue::{Context, Error};
use serde::{Deserialize, Serialize};

use crate::outbox::Outbox;

/// The kind of these jobs.
pub(crate) const KIND: &str = "email";

/// An email to send.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Email {
    to: String,
    subject: String,
    text: String,
}

/// Writes it to the outbox, from which a mail server takes it.
pub(crate) async fn send(email: Email, cx: Context<Outbox>) -> Result<(), Error> {
    let Email { to, subject, text } = email;
    // A line break in a header would begin another header: no attempt can help that.
    if to.contains(['\r', '\n']) || subject.contains(['\r', '\n']) {
        return Err(Error::permanent("a line break in the address or the subject"));
    }
    let mail = format!("To: {to}\r\nSubject: {subject}\r\nMessage-ID: <{}@service>\r\n\r\n{text}\r\n", cx.id());
    // The outbox is on a disk: the write is not for this thread.
    let (outbox, name) = (cx.state().clone(), format!("{}.eml", cx.id()));
    tokio::task::spawn_blocking(move || outbox.put(&name, mail.as_bytes())).await??;
    Ok(())
}
