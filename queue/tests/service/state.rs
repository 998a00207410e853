//! What the parts of the program share.

use std::sync::Arc;

use parking_lot::Mutex;
use queue::Enqueuer;
use tokio::sync::Notify;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mail {
    pub(crate) to: String,
    pub(crate) subject: String,
}

#[derive(Clone)]
pub(crate) struct State {
    pub(crate) mails: Enqueuer<Mail>,
    delivered: Arc<(Mutex<Vec<Mail>>, Notify)>,
}

impl State {
    pub(crate) fn new(mails: Enqueuer<Mail>) -> Self {
        Self { mails, delivered: Arc::default() }
    }

    pub(crate) fn delivered(&self, mail: Mail) {
        self.delivered.0.lock().push(mail);
        self.delivered.1.notify_one();
    }

    pub(crate) async fn until_delivered(&self, mails: usize) {
        while self.delivered.0.lock().len() < mails {
            self.delivered.1.notified().await;
        }
    }

    pub(crate) fn subjects(&self) -> Vec<String> {
        self.delivered.0.lock().iter().map(|mail| format!("{}, {}", mail.subject, mail.to)).collect()
    }
}
