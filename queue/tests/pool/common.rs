//! What these tests share.

use std::time::Duration;

use crate::tokio;

/// Waits until `done`, but not for ever.
pub(crate) async fn until(done: impl Fn() -> bool) {
    let done = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), done).await.unwrap();
}
