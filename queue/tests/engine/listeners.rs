//! Whoever listens to the log may panic, wherever it is called: no job is lost and no slot ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::tokio;
use queue::core::{Loss, WorkerError};
use queue::{Completion, Context, Error, Outcome, Queue, Retry, Ring};
use tokio::time::sleep;
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, set_default};
use tracing::{Event, Metadata, Subscriber};

use crate::common::{Broker, LONG, Log, end, ms, settle_down};

const CALLS: [&str; 8] = ["enabled", "event", "new_span", "record", "enter", "exit", "clone_span", "try_close"];

/// Panics in the call of its name.
#[derive(Clone)]
struct Panics(&'static str, Arc<AtomicUsize>);

impl Panics {
    fn at(&self, call: &str) {
        if self.0 == call {
            self.1.fetch_add(1, Ordering::Relaxed);
            panic!("planned: the listener's `{call}`");
        }
    }
}

impl Subscriber for Panics {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        self.at("enabled");
        true
    }

    fn event(&self, _: &Event<'_>) {
        self.at("event");
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        self.at("new_span");
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {
        self.at("record");
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {
        self.at("enter");
    }

    fn exit(&self, _: &Id) {
        self.at("exit");
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.at("clone_span");
        id.clone()
    }

    fn try_close(&self, _: Id) -> bool {
        self.at("try_close");
        true
    }
}

/// Listens on this thread, and panics in `call`.
fn listen(call: &'static str) -> (Panics, impl Drop, impl Drop) {
    let (_, log) = Log::listen(LevelFilter::OFF);
    let panics = Panics(call, Arc::default());
    let guard = set_default(panics.clone());
    // The inner one goes first.
    (panics, guard, log)
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_panics_loses_no_job_of_a_ring() {
    for call in CALLS {
        let (panics, guard, log) = listen(call);
        let told = Arc::new(AtomicUsize::new(0));
        let tells = told.clone();
        let handler = async |job: u32, cx: Context| match job % 6 {
            0 => Outcome::done(),
            1 => Outcome::failed(Error::new("an error")),
            2 => panic!("planned: a panic"),
            3 => std::future::pending().await,
            4 if !cx.is_redelivered() && cx.attempt() == 1 => Outcome::retry_after(ms(10)),
            _ => {
                sleep(ms(10)).await;
                Outcome::done()
            }
        };
        let hook = move |_: Completion| {
            tells.fetch_add(1, Ordering::Relaxed);
            async { panic!("planned: a hook") }
        };
        let builder = Queue::with_worker(Ring::new()).slots(2).retry(Retry::fixed(1, ms(1))).timeout(ms(50));
        let queue = builder.on_complete(hook).start(handler).unwrap();
        queue.enqueue_many(0..12).await.unwrap();
        sleep(LONG).await;
        let stats = queue.stats();
        assert_eq!((stats.slots, stats.accepted, stats.done, stats.dead), (2, 12, 6, 6), "{call}: {stats:?}");
        assert_eq!(
            (stats.started, stats.ok, stats.failed, stats.panicked, stats.timed_out),
            (20, 6, 6, 4, 4),
            "{call}"
        );
        assert_eq!((told.load(Ordering::Relaxed), stats.hooks_panicked), (20, 20), "{call}");
        assert!(panics.1.load(Ordering::Relaxed) > 0, "{call} was not called");
        assert!(end(&queue).await.is_complete());
        drop((guard, log));
    }
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_panics_loses_no_job_of_a_broker() {
    for call in CALLS {
        let (panics, guard, log) = listen(call);
        let broker = Broker::new();
        for _ in 0..3 {
            broker.fail_next_request(WorkerError::reconnect("the connection is gone"));
            broker.fail_next_settle(WorkerError::reconnect("the connection is gone"));
        }
        let handler = async |job: String, cx: Context| match &*job {
            "lost" => {
                cx.cancelled().await;
                Ok(())
            }
            "bad" => Err("an error"),
            _ => Ok(()),
        };
        let queue = Queue::with_worker(broker.clone()).slots(2).retry(Retry::fixed(1, ms(1))).start(handler).unwrap();
        for job in ["good", "bad", "\u{fffd}"] {
            queue.enqueue(job.to_owned()).await.unwrap();
        }
        broker.publish(b"panic");
        sleep(LONG).await;
        let lost = queue.enqueue("lost".to_owned()).await.unwrap();
        settle_down().await;
        broker.lose(lost, Loss::Revoked);
        sleep(LONG).await;
        let stats = queue.stats();
        assert_eq!((stats.slots, stats.received), (2, 5), "{call}: {stats:?}");
        assert_eq!((stats.done, stats.dead, stats.lost), (2, 2, 1), "{call}: {stats:?}");
        // Nobody hears of attempts here but the listener, if it is asked at all.
        assert!(panics.1.load(Ordering::Relaxed) > 0 || call == "clone_span", "{call} was not called");
        assert!(end(&queue).await.is_complete());
        drop((guard, log));
    }
}
