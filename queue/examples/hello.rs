//! One async function over a queue in this process.
use queue::{Queue, Ring};

async fn send_email(to: String) {
    println!("sent to {to}");
}
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let queue = Queue::with_worker(Ring::new()).start(send_email)?;
    queue.enqueue("a@example.org".to_owned()).await?;
    Ok(drop(queue.shutdown(std::time::Duration::from_secs(10)).await?))
}
