//! One async function over a queue in this process.
#![allow(clippy::print_stdout)]

use queue::{Queue, Ring};

async fn send_email(to: String) {
    println!("sent to {to}");
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let queue = Queue::with_worker(Ring::new()).start(send_email)?;
    queue.enqueue("a@example.org".to_owned()).await?;
    let report = queue.shutdown(std::time::Duration::from_secs(10)).await?;
    println!("{} sent", report.stats().done);
    Ok(())
}
