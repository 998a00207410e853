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
