//! The whole engine while somebody listens: a hook after each attempt, or a log. One engine, four settings.
//!
//! The log is a subscriber at INFO that does nothing, so that what is measured is the engine's part: a span a job.
#![allow(clippy::expect_used, reason = "a bench ends where it cannot go on")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bench::{Shape, Subject, engine, jobs, ring};
use queue::{Completion, Queue, Ring};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, Subscriber};
use tracing::{Event, Metadata};

struct Told;

impl Subject for Told {
    type Worker = Ring<u64>;
    const NAMES: &'static [&'static str] = &["log/off", "log/on", "hook/ready", "hook/waits"];
    const SHAPES: &'static [Shape] = Shape::BOTH;
    const JOBS: u64 = 100_000;

    fn start(name: &str, slots: usize) -> Queue<Self::Worker> {
        LISTENS.store(name == "log/on", Ordering::SeqCst);
        tracing::callsite::rebuild_interest_cache();
        let worker = ring().build().expect("a valid ring");
        let builder = Queue::with_worker(worker).slots(slots).timeout(Duration::from_secs(30));
        let builder = match name {
            "hook/ready" => builder.on_complete(async |_: Completion| {}),
            "hook/waits" => builder.on_complete(async |_: Completion| tokio::task::yield_now().await),
            _ => builder,
        };
        builder.start(jobs::no_op).expect("a valid queue")
    }
}

/// Changed between runs only.
static LISTENS: AtomicBool = AtomicBool::new(false);

struct Log;

impl Subscriber for Log {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        if LISTENS.load(Ordering::SeqCst) { Interest::always() } else { Interest::never() }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(if LISTENS.load(Ordering::SeqCst) { LevelFilter::INFO } else { LevelFilter::OFF })
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        LISTENS.load(Ordering::SeqCst)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn main() {
    tracing::subscriber::set_global_default(Log).expect("there is no other");
    engine::<Told>();
}
