//! What makes jobs, outside of handlers and inside.

use queue::EnqueueError;

use crate::state::{Mail, State};

pub(crate) async fn welcome(state: &State, to: &str) -> Result<(), EnqueueError<Mail>> {
    let mail = Mail { to: to.to_owned(), subject: "welcome".to_owned() };
    state.mails.enqueue(mail).await.map(|_| ())
}

/// After a welcome comes one question.
pub(crate) async fn follow_up(state: &State, mail: &Mail) -> Result<(), EnqueueError<Mail>> {
    if mail.subject != "welcome" {
        return Ok(());
    }
    let question = Mail { to: format!("{}?", mail.to), subject: "how was it".to_owned() };
    state.mails.job(question).header("reason", "welcome").enqueue().await.map(|_| ())
}
