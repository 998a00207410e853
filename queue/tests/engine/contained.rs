//! User code that panics where nobody expects it: in a drop, in an error's text, while it is cancelled, before it waits.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use crate::tokio;
use queue::{Context, Handler, HandlerResult, Queue, Retry, Ring, RingBuilder, Stats, blocking};
use tokio::time::sleep;

use crate::common::{end, ms};

/// A job that may panic when it is dropped; a clone shares the fuse.
#[derive(Clone)]
struct Bomb(&'static str, Arc<Fuse>);

#[derive(Default)]
struct Fuse {
    live: AtomicBool,
    /// Dropped while another panic unwound: outside of a test that ends the process, whoever catches.
    fatal: AtomicBool,
}

impl Bomb {
    fn live(name: &'static str) -> Self {
        Self(name, Arc::new(Fuse { live: AtomicBool::new(true), fatal: AtomicBool::new(false) }))
    }

    fn dud() -> Self {
        Self("dud", Arc::default())
    }

    /// It and its clones panic no more.
    fn defuse(&self) {
        self.1.live.store(false, Ordering::Relaxed);
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if !self.1.live.load(Ordering::Relaxed) {
            return;
        }
        if std::thread::panicking() {
            self.1.fatal.store(true, Ordering::Relaxed);
        } else {
            panic!("planned: the drop of a job");
        }
    }
}

/// Runs `jobs` and then a dud on the only slot; it has to be done. Answers the counts.
async fn survives<M: 'static>(
    ring: RingBuilder,
    retry: Retry,
    handler: impl Handler<M, Bomb, (), Output: HandlerResult, Future: Send>,
    jobs: &[Bomb],
) -> Stats {
    let builder = Queue::with_worker(ring.build().unwrap()).slots(1).timeout(ms(50)).retry(retry);
    let queue = builder.start(handler).unwrap();
    for job in jobs {
        queue.enqueue(job.clone()).await.unwrap();
    }
    sleep(ms(1_000)).await;
    let before = queue.stats();
    queue.enqueue(Bomb::dud()).await.unwrap();
    sleep(ms(1_000)).await;
    let stats = queue.stats();
    assert_eq!((stats.done, stats.slots), (before.done + 1, 1), "the slot lives: {stats:?}");
    assert_eq!(stats.accepted, stats.done + stats.dead);
    assert_eq!((stats.running, stats.held), (0, 0));
    assert!(!jobs.iter().any(|job| job.1.fatal.load(Ordering::Relaxed)), "two drops at once");
    drop(end(&queue).await);
    // The ring drops its dead letters with it.
    jobs.iter().for_each(Bomb::defuse);
    before
}

/// E-63
#[tokio::test(start_paused = true)]
async fn before_the_first_await() {
    let at_the_call = |job: Bomb| {
        assert!(job.0 == "dud", "planned");
        std::future::ready(())
    };
    let in_the_first_poll = async |job: Bomb| assert!(job.0 == "dud", "planned");
    let job = [Bomb("job", Arc::default())];
    let stats = survives(Ring::builder(), Retry::fixed(1, ms(1)), at_the_call, &job).await;
    assert_eq!((stats.panicked, stats.dead), (2, 1));
    let stats = survives(Ring::builder(), Retry::fixed(1, ms(1)), in_the_first_poll, &job).await;
    assert_eq!((stats.panicked, stats.dead), (2, 1));
}

/// E-63
#[tokio::test(start_paused = true)]
async fn in_blocking_code() {
    let handler = blocking(|job: Bomb| assert!(job.0 == "dud", "planned"));
    let stats = survives(Ring::builder(), Retry::none(), handler, &[Bomb("job", Arc::default())]).await;
    assert_eq!((stats.panicked, stats.dead), (1, 1));
}

/// E-63
#[tokio::test(start_paused = true)]
async fn while_it_is_cancelled() {
    let signalled = async |job: Bomb, cx: Context| {
        if job.0 != "dud" {
            cx.cancelled().await;
            panic!("planned: at the last poll");
        }
    };
    let stats = survives(Ring::builder(), Retry::none(), signalled, &[Bomb("job", Arc::default())]).await;
    assert_eq!((stats.timed_out, stats.panicked, stats.dead), (1, 0, 1), "one end an attempt");

    let dropped = async |job: Bomb| {
        if job.0 != "dud" {
            std::future::pending::<()>().await;
        }
    };
    // The future drops its job when it is dropped; the ring's clone lives on as the dead letter.
    let stats = survives(Ring::builder(), Retry::none(), dropped, &[Bomb::live("job")]).await;
    assert_eq!((stats.timed_out, stats.dead), (1, 1));
}

/// A handler's future that holds its job until it is dropped, after it was ready.
struct Holding(#[expect(dead_code, reason = "held for its drop")] Bomb);

impl Future for Holding {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

/// E-63
#[tokio::test(start_paused = true)]
async fn in_the_drop_of_a_job() {
    // Within the handler: an attempt that panics.
    let jobs = [Bomb::live("first"), Bomb::live("second")];
    let stats = survives(Ring::builder(), Retry::none(), async |_: Bomb| (), &jobs).await;
    assert_eq!((stats.panicked, stats.dead), (2, 2));
    // Of the finished future, and of the clone that the slot kept: the attempt was done.
    let jobs = [Bomb::live("first"), Bomb::live("second")];
    let stats = survives(Ring::builder(), Retry::none(), |job: Bomb| Holding(job), &jobs).await;
    assert_eq!((stats.done, stats.panicked), (2, 0));
}

/// E-63: where a dead letter pushes an older one out.
#[tokio::test(start_paused = true)]
async fn in_the_drop_of_a_dead_letter() {
    for kept in [0, 1] {
        let jobs = [Bomb::live("first"), Bomb::live("second"), Bomb::live("third")];
        let handler = async |job: Bomb| {
            if job.0 == "dud" {
                return Ok(());
            }
            // The handler's own copy is harmless.
            let _kept = std::mem::ManuallyDrop::new(job);
            Err("no")
        };
        let ring = Ring::builder().dead_letters(kept);
        let stats = survives(ring, Retry::fixed(1, ms(1)), handler, &jobs).await;
        assert_eq!((stats.failed, stats.dead), (6, 3), "{kept} letters kept");
    }
}

/// An error that panics when it is shown, or when it is dropped.
#[derive(Debug)]
enum Mine {
    Text,
    Drop,
}

impl fmt::Display for Mine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        assert!(matches!(self, Self::Drop), "planned: the text of an error");
        f.write_str("mine")
    }
}

impl Drop for Mine {
    fn drop(&mut self) {
        assert!(std::thread::panicking() || matches!(self, Self::Text), "planned: the drop of an error");
    }
}

impl std::error::Error for Mine {}

/// E-63
#[tokio::test(start_paused = true)]
async fn in_an_error() {
    let handler = async |job: Bomb| match job.0 {
        "text" => Err(Mine::Text),
        "drop" => Err(Mine::Drop),
        _ => Ok(()),
    };
    let jobs = ["text", "drop"].map(|name| Bomb(name, Arc::default()));
    let stats = survives(Ring::builder(), Retry::fixed(1, ms(1)), handler, &jobs).await;
    assert_eq!((stats.failed, stats.dead), (4, 2));
}

/// E-63
#[tokio::test(start_paused = true)]
async fn in_the_drop_of_an_error_that_comes_too_late() {
    let handler = async |job: Bomb, cx: Context| {
        if job.0 == "dud" {
            return Ok(());
        }
        cx.cancelled().await;
        Err(Mine::Drop)
    };
    let stats = survives(Ring::builder(), Retry::none(), handler, &[Bomb("job", Arc::default())]).await;
    assert_eq!((stats.timed_out, stats.failed, stats.dead), (1, 0, 1));
}
