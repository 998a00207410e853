//! Processes that stop at a step, and are killed there.

use std::time::Duration;

use queue::{Context, Queue, Ring};
use queue_conformance::history::{Claims, Recorded, Step, check, gate_of};

use crate::format::tempfile;
use crate::processes::{as_child, child, until};

/// A child that runs a queue until it stands at its gate.
#[test]
#[ignore = "a part of another test: it is run as a process of its own"]
fn stops() {
    let Some(recorder) = as_child() else { return };
    let step = std::env::var("HISTORY_NAME").unwrap();
    recorder.stop_at(step.parse().unwrap(), 3);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let queue = Queue::with_worker(Recorded::new(Ring::new(), &recorder))
            .slots(1)
            .start(recorder.handler(async |_: u64, _: Context| tokio::task::yield_now().await))
            .unwrap();
        for job in 0..10 {
            queue.enqueue(job).await.unwrap();
        }
        tokio::time::sleep(Duration::from_secs(600)).await;
    });
}

/// F-18: at each step of the protocol a process stops, its log says so, and what it leaves behind is what the step means.
#[test]
fn a_process_stops_at_each_step() {
    for step in Step::ALL {
        let file = tempfile();
        let parent = queue_conformance::history::Recorder::create(&file.0, "parent", Claims::new()).unwrap();
        let mut child = child("gates::stops", &file.0, step.name());
        until(step.name(), || gate_of(&std::fs::read(&file.0).unwrap(), step.name()).is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        parent.killed(step.name());
        let text = std::fs::read_to_string(&file.0).unwrap();
        assert_eq!(gate_of(text.as_bytes(), step.name()), Some(step));
        let count = |word: &str| text.lines().filter(|line| line.contains(&format!("\"{word}\":{{"))).count();
        let counted = match step {
            Step::BeforePublish | Step::AfterPublish => (count("publish"), count("confirmed")) == (3, 2),
            Step::Fetched => count("delivered") >= 3,
            Step::BeforeHandler => (count("started"), count("ended")) == (2, 2),
            Step::InHandler => (count("started"), count("ended")) == (3, 2),
            Step::BeforeSettle => count("settle") == count("settled") + 1,
            Step::AfterSettle => count("settle") == count("settled"),
            _ => false,
        };
        assert!(counted, "{step}\n{text}");
        // Jobs of a ring die with it: they are lost, and nothing else is wrong.
        let report = check(text.as_bytes()).unwrap();
        assert!(
            report.violations().iter().all(|of| of.kind == queue_conformance::history::Kind::Lost),
            "{step} {report}"
        );
    }
}
