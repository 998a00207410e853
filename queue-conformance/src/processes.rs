//! Consumer processes that are killed, one at each step of the protocol.
//!
//! A test file calls [`kill_suite!`](crate::kill_suite) for a backend whose jobs outlive its process. Its test starts itself again as a
//! consumer process, lets that run up to a step, kills it there with SIGKILL, has another consumer finish, and checks the history of both.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use queue::{Context, Queue};
use queue_core::{Room, Worker};
use tokio::time::{Instant, sleep};

use crate::history::{self, Claims, Kind, Recorded, Recorder, Report, Step, gate_of};
use crate::{AnyCodec, Backend, Job};

const LOG: &str = "QUEUE_CONFORMANCE_LOG";
const QUEUE: &str = "QUEUE_CONFORMANCE_QUEUE";
const STEP: &str = "QUEUE_CONFORMANCE_STEP";

/// How many jobs wait for the process.
const JOBS: u64 = 20;
/// How many more it publishes itself.
const OWN: u64 = 5;
/// At which passing of its step it stops.
const NTH: u64 = 3;
const SLOTS: usize = 2;

/// The consumer process; returns at once where this process is none.
///
/// # Panics
/// What its parent told it makes no sense, or the backend fails.
#[expect(clippy::expect_used, reason = "a test process: its panic is its report")]
pub fn consumer_process<B: Backend>(make: impl FnOnce() -> B) {
    let (Some(log), Ok(queue), Ok(step)) = (std::env::var_os(LOG), std::env::var(QUEUE), std::env::var(STEP)) else {
        return;
    };
    let recorder = Recorder::append(log, "child").expect("the log of the parent");
    recorder.stop_at(step.parse().expect("a step"), NTH);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let backend = make();
        let worker = backend.connect(&queue, AnyCodec::default()).await.expect("the broker of the parent");
        let queue = consume(worker, &recorder);
        for number in JOBS..JOBS + OWN {
            queue.enqueue(Job::new(number)).await.expect("room");
        }
        // The parent kills it: this only ends a process whose parent is gone.
        sleep(Duration::from_secs(120)).await;
    });
}

#[expect(clippy::expect_used, reason = "a test process: its panic is its report")]
fn consume<W: Worker<Job = Job>>(worker: W, recorder: &Recorder) -> Queue<Recorded<W>> {
    let handler = recorder.handler(async |_: Job, _: Context| tokio::task::yield_now().await);
    Queue::with_worker(Recorded::new(worker, recorder)).slots(SLOTS).start(handler).expect("a queue")
}

/// Kills a consumer process at each step, and checks what its history and that of its successor prove.
///
/// `test` is the name of the test that calls [`consumer_process`].
///
/// # Panics
/// A job was lost, or another promise broken: with the report, and the log's path, which is then kept.
#[expect(clippy::print_stdout, reason = "a test says what it measured")]
pub fn survives_kills<B: Backend>(test: &str, make: impl Fn() -> B) {
    for step in Step::ALL {
        let backend = make();
        let folder = Folder::new(step);
        let log = folder.0.join("history.log");
        let report = killed_at(&backend, step, &log, test);
        match report {
            Ok(report) if report.holds() => println!("killed {step}: {report}"),
            Ok(report) => panic!("killed {step}: {report}\nthe log is kept: {}", folder.keep().display()),
            Err(how) => panic!("killed {step}: {how}\nthe log is kept: {}", folder.keep().display()),
        }
    }
}

fn killed_at<B: Backend>(backend: &B, step: Step, log: &Path, test: &str) -> Result<Report, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let name = format!("killed-{}-{}", std::process::id(), step.name().replace(' ', "-"));
        let worker = backend.connect(&name, AnyCodec::default()).await.map_err(|error| error.to_string())?;
        // An order of first deliveries is no promise once a consumer was killed; duplicates are what its slots held.
        let claims = Claims::new().duplicates(SLOTS as u64);
        let recorder = Recorder::create(log, "parent", claims).map_err(|error| error.to_string())?;
        let producer = Recorded::new(worker, &recorder);
        let mut entries: Vec<_> = (0..JOBS).map(|number| queue_core::Entry::new(Job::new(number))).collect();
        producer.queue(&mut entries, Room::Wait).await.map_err(|error| error.to_string())?;
        drop(producer);

        let mut process = Process::start(test, &backend.environment(), log, &name, step)?;
        let patience = backend.takeover() * 2 + Duration::from_secs(30);
        until(patience, "the process does not reach its step", || {
            std::fs::read(log).is_ok_and(|log| gate_of(&log, "child").is_some())
        })
        .await?;
        process.kill()?;
        recorder.killed("child");

        let worker = backend.connect(&name, AnyCodec::default()).await.map_err(|error| error.to_string())?;
        let queue = consume(worker, &recorder);
        until(patience, "jobs of the killed process do not come again", || {
            let report = std::fs::read(log).ok().and_then(|log| history::check(&*log).ok());
            report.is_some_and(|report| report.count(Kind::Lost) == 0)
        })
        .await?;
        let ended = queue.shutdown(patience).await.map_err(|error| error.to_string())?;
        if !ended.is_complete() {
            return Err("the second consumer did not end in time".to_owned());
        }
        recorder.close().map_err(|error| error.to_string())?;
        let log = std::fs::read(log).map_err(|error| error.to_string())?;
        history::check(&*log).map_err(|error| error.to_string())
    })
}

async fn until(patience: Duration, what: &str, mut done: impl FnMut() -> bool) -> Result<(), String> {
    let end = Instant::now() + patience;
    while !done() {
        if Instant::now() > end {
            return Err(format!("{what} within {patience:?}"));
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// A consumer process; killed when it is dropped.
struct Process(Child);

impl Process {
    fn start(
        test: &str,
        environment: &[(&str, OsString)],
        log: &Path,
        queue: &str,
        step: Step,
    ) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args([test, "--exact", "--nocapture"]).envs(environment.iter().map(|(name, value)| (name, value)));
        command.env(LOG, log).env(QUEUE, queue).env(STEP, step.name()).stdin(Stdio::null()).stdout(Stdio::null());
        command.spawn().map(Self).map_err(|error| format!("the test cannot start itself again: {error}"))
    }

    fn kill(&mut self) -> Result<(), String> {
        self.0.kill().and_then(|()| self.0.wait()).map(drop).map_err(|error| error.to_string())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended where these fail.
        let _ended = self.kill();
    }
}

/// The folder of a log; removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    #[expect(clippy::expect_used, reason = "a test without a folder for its log cannot go on")]
    fn new(step: Step) -> Self {
        let name = format!("queue-killed-{}-{}", std::process::id(), step.name().replace(' ', "-"));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder for the log");
        Self(path)
    }

    fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // What is left in the folder of temporary files is no failure of the test.
            let _left = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// Makes two tests for a backend whose jobs outlive its process: one kills a consumer process at each step of the protocol and
/// checks its history, the other is that process, and does nothing else.
///
/// ```ignore
/// mod killed {
///     // In the process the expression reads what `Backend::environment` said in the test.
///     queue_conformance::kill_suite!(MyBackend::from_env());
/// }
/// ```
#[macro_export]
macro_rules! kill_suite {
    ($backend:expr) => {
        #[test]
        fn consumer_process() {
            $crate::processes::consumer_process(|| $backend);
        }

        #[test]
        fn a_consumer_killed_at_each_step_loses_nothing() {
            let here = concat!(module_path!(), "::consumer_process");
            // A test's name does not begin with its crate's.
            let (_, test) = here.split_once("::").unwrap_or(("", here));
            $crate::processes::survives_kills(test, || $backend);
        }
    };
}
