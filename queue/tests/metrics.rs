//! What the crate `metrics` is told, with the feature of that name; and that nothing is, without it.
#![cfg(feature = "metrics")]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use metrics::{
    Counter, CounterFn, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};
use queue::{Queue, Retry, Ring};
use tokio::time::Instant;

/// Values by name and labels. Clones are the same.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<BTreeMap<String, Vec<f64>>>>);

/// One instrument.
struct One(Seen, String);

impl One {
    fn note(&self, value: f64) {
        self.0.0.lock().unwrap().entry(self.1.clone()).or_default().push(value);
    }
}

impl CounterFn for One {
    fn increment(&self, value: u64) {
        self.note(value as f64);
    }
    fn absolute(&self, _: u64) {
        panic!("a count only grows");
    }
}

impl HistogramFn for One {
    fn record(&self, value: f64) {
        self.note(value);
    }
}

impl Seen {
    fn one(&self, key: &Key) -> Arc<One> {
        let labels: Vec<_> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        Arc::new(One(self.clone(), format!("{} {}", key.name(), labels.join(" "))))
    }
}

impl Recorder for Seen {
    fn describe_counter(&self, _: KeyName, unit: Option<Unit>, _: SharedString) {
        assert_eq!(unit, Some(Unit::Count));
    }
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, unit: Option<Unit>, _: SharedString) {
        assert_eq!(unit, Some(Unit::Seconds));
    }
    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.one(key))
    }
    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        panic!("there is no gauge");
    }
    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.one(key))
    }
}

/// E-97, E-99
#[test]
fn attempts_are_told_in_seconds_and_by_bounded_labels() {
    let seen = Seen::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    metrics::with_local_recorder(&seen, || {
        runtime.block_on(async {
            let handler = async |job: u64| {
                let start = Instant::now();
                while start.elapsed() < Duration::from_micros(200) {
                    std::hint::spin_loop();
                }
                if job == 0 { Err(format!("failed: {job}")) } else { Ok(()) }
            };
            let retry = Retry::fixed(1, Duration::ZERO);
            let quiet = Queue::with_worker(Ring::new()).name("not told").slots(1).start(async |_: u64| ()).unwrap();
            quiet.enqueue(1).await.unwrap();
            drop(quiet.shutdown(Duration::from_secs(60)).await.unwrap());
            let queue =
                Queue::with_worker(Ring::new()).name("mail").metrics().slots(1).retry(retry).start(handler).unwrap();
            for job in 0..10 {
                queue.enqueue(job).await.unwrap();
            }
            queue.idle().await;
            drop(queue.shutdown(Duration::from_secs(60)).await.unwrap());
        });
    });
    let seen = seen.0.lock().unwrap();
    let names: Vec<_> = seen.keys().map(String::as_str).collect();
    let expected = [
        "messaging.client.consumed.messages messaging.destination.name=mail",
        "messaging.process.duration messaging.destination.name=mail outcome=failed",
        "messaging.process.duration messaging.destination.name=mail outcome=ok",
    ];
    assert_eq!(names, expected);
    let [consumed, failed, ok] = expected.map(|name| &seen[name]);
    // Ten jobs, one of them delivered again.
    assert_eq!((consumed.iter().sum::<f64>(), failed.len(), ok.len()), (11.0, 2, 9));
    assert!(failed.iter().chain(ok).all(|&seconds| (0.000_2..60.0).contains(&seconds)), "{ok:?}");
}

/// E-99
#[test]
fn without_the_feature_the_crate_is_not_even_there() {
    let tree = |features: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["tree", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
        let output = cargo.args(["--package", env!("CARGO_PKG_NAME")]).args(features).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let has = |tree: &str| tree.lines().any(|line| line.starts_with("metrics "));
    assert!(!has(&tree(&[])));
    assert!(has(&tree(&["--features", "metrics"])));
}
