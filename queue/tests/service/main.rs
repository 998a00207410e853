//! A program of three modules: `state` is what its parts share, `producer` makes jobs, and this one puts them together.
//! Its handler keeps an `Enqueuer` in its own queue's state, as services do.
#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../common_tokio/mod.rs"]
mod tokio;

mod producer;
mod state;

use std::time::Duration;

use queue::core::Worker;
use queue::{Context, Queue, Report, Ring};
use state::{Mail, State};

async fn deliver(mail: Mail, cx: Context<State>) -> Result<(), queue::Error> {
    producer::follow_up(cx.state(), &mail).await?;
    cx.state().delivered(mail);
    Ok(())
}

/// The program: the worker comes in, and from here on nobody knows which it is.
async fn program(worker: impl Worker<Job = Mail>) -> (Vec<String>, Report<Mail>) {
    let builder = Queue::with_worker(worker).slots(1);
    let state = State::new(builder.enqueuer());
    let queue = builder.state(state.clone()).start(deliver).unwrap();
    producer::welcome(&state, "ada").await.unwrap();
    state.until_delivered(2).await;
    let report = queue.shutdown(Duration::from_secs(10)).await.unwrap();
    (state.subjects(), report)
}

// One line names the worker.
macro_rules! program {
    ($name:ident, $worker:expr) => {
        #[tokio::test(start_paused = true)]
        async fn $name() {
            let (subjects, report) = program($worker).await;
            assert_eq!(subjects, ["welcome, ada", "how was it, ada?"]);
            assert_eq!((report.stats().done, report.stats().accepted), (2, 2));
        }
    };
}

program!(the_program_on_a_ring, Ring::new());
program!(the_program_on_another_worker, Ring::once());
program!(the_program_on_one_chosen_at_run_time, Ring::new().boxed());

/// E-104: one line of the program names its worker, and no other module does.
#[test]
fn no_other_module_names_a_worker() {
    for module in [include_str!("state.rs"), include_str!("producer.rs")] {
        for name in ["Ring", "Worker", "Queue<", "redis", "amqp", "kafka"] {
            assert!(!module.contains(name), "{name} in: {module}");
        }
    }
}

/// All code of the library: its lines without comments.
fn code(folder: &std::path::Path, lines: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            code(&path, lines);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
            lines.extend(text.map(|line| format!("{}: {line}", path.display())));
        }
    }
}

/// E-90: nor does it ask for what could.
#[test]
fn the_library_ends_no_process_and_listens_for_no_signal() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut lines = Vec::new();
    for part in ["queue", "queue-core", "backend-memory"] {
        code(&root.join(part).join("src"), &mut lines);
        let manifest = std::fs::read_to_string(root.join(part).join("Cargo.toml")).unwrap();
        let needs = manifest.split_once("\n[dependencies]").unwrap().1;
        let needs = needs.split_once("\n[").unwrap().0;
        lines.extend(needs.lines().map(|line| format!("{part}: {line}")));
    }
    assert!(lines.len() > 3_000, "{} lines are not all of them", lines.len());
    let enders =
        ["process::exit", "abort(", "exit(", "raise(", "signal::", "\"signal\"", "sigaction", "ctrl_c", "signal-hook"];
    let ends = |line: &&String| enders.iter().any(|ender| line.contains(ender));
    assert_eq!(lines.iter().filter(ends).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// E-103
#[tokio::test(start_paused = true)]
async fn an_enqueuer_in_its_own_state_keeps_no_engine_alive() {
    let tasks = tokio::runtime::Handle::current().metrics();
    let before = tasks.num_alive_tasks();
    let builder = Queue::with_worker(Ring::new()).slots(2);
    let state = State::new(builder.enqueuer());
    let queue = builder.state(state.clone()).start(deliver).unwrap();
    producer::welcome(&state, "ada").await.unwrap();
    state.until_delivered(2).await;
    assert!(tasks.num_alive_tasks() > before);
    drop(queue);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(tasks.num_alive_tasks(), before);
    producer::welcome(&state, "bob").await.unwrap_err();
}
