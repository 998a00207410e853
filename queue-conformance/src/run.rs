//! Runs rows of the suite, each on a thread of its own, so that a worker that hangs or panics ends its row and nothing else.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::suite::{ROWS, Stage, Stop, play};
use crate::{Backend, Time};

/// One row of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Its id in the list of behaviours.
    pub id: &'static str,
    /// What it proves.
    pub title: &'static str,
}

/// How a row ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The promise holds; with what was measured on the way.
    Passed(Vec<String>),
    /// The promise is broken: how.
    Failed(String),
    /// The worker does not claim what the row is about: what it does not claim.
    Skipped(String),
    /// The backend does not offer to tests what the row needs, so nothing is known: what it does not offer.
    Unproven(String),
}

impl Outcome {
    /// Whether no promise was found broken. A row that was skipped or not proven passes, too: look at what it says.
    #[must_use]
    pub const fn is_pass(&self) -> bool {
        !matches!(self, Self::Failed(_))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed(measured) if measured.is_empty() => f.write_str("passed"),
            Self::Passed(measured) => write!(f, "passed; {}", measured.join("; ")),
            Self::Failed(how) => write!(f, "FAILED: {how}"),
            Self::Skipped(why) => write!(f, "does not apply: {why}"),
            Self::Unproven(what) => {
                write!(f, "not proven to its end: the backend offers no {what} to tests (what comes before it held)")
            }
        }
    }
}

/// After this time by the wall a row on a paused clock hangs: it holds its thread without ever waiting.
const HANGS_PAUSED: Duration = Duration::from_secs(60);
/// The same where time passes by the wall: every wait inside has a limit of its own.
const HANGS: Duration = Duration::from_secs(600);

/// Runs one row against a fresh backend, on a runtime of its own.
///
/// A panic of the worker, a call that is never answered and a thread that never comes back are failures with a message.
pub fn run<B: Backend>(id: &str, make: impl FnOnce() -> B + Send + 'static) -> Outcome {
    run_within(id, make, |time| if time == Some(Time::Paused) { HANGS_PAUSED } else { HANGS })
}

fn run_within<B: Backend>(
    id: &str,
    make: impl FnOnce() -> B + Send + 'static,
    hangs: impl Fn(Option<Time>) -> Duration,
) -> Outcome {
    let id = id.to_owned();
    let (tell, told) = mpsc::channel();
    let (begun, begins) = mpsc::channel();
    let row = move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| on_this_thread(&id, make, &begun)));
        // Nobody listens any more where the row was given up.
        let _told = tell.send(outcome.unwrap_or_else(|panic| Outcome::Failed(format!("panicked: {}", words(&*panic)))));
    };
    let thread = std::thread::Builder::new().name("conformance".to_owned()).spawn(row);
    if let Err(error) = thread {
        return Outcome::Failed(format!("no thread for the row: {error}"));
    }
    let making = hangs(None);
    let hangs = match begins.recv_timeout(making) {
        Ok(time) => hangs(Some(time)),
        Err(RecvTimeoutError::Timeout) => {
            return Outcome::Failed(format!("the backend itself was not made within {making:?}"));
        }
        // It could not be made: the answer is on its way.
        Err(RecvTimeoutError::Disconnected) => making,
    };
    match told.recv_timeout(hangs) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => Outcome::Failed(format!("holds its thread: not back after {hangs:?}")),
        Err(RecvTimeoutError::Disconnected) => Outcome::Failed("the row's thread ended without an answer".to_owned()),
    }
}

/// Runs all rows against fresh backends.
pub fn run_all<B: Backend>(make: impl Fn() -> B + Clone + Send + 'static) -> Vec<(Row, Outcome)> {
    ROWS.iter().map(|row| (*row, run(row.id, make.clone()))).collect()
}

/// Runs one row, and panics where it fails: what [`suite!`](crate::suite) makes a test of.
///
/// # Panics
/// The promise is broken; or it is not proven and stands not among `unproven`; or it stands there and is proven.
#[expect(clippy::print_stdout, reason = "a test says what it did not prove")]
pub fn must_pass<B: Backend>(id: &str, make: impl FnOnce() -> B + Send + 'static, unproven: &[&str]) {
    let title = ROWS.iter().find(|row| row.id == id).map_or("no such row", |row| row.title);
    match run(id, make) {
        Outcome::Failed(how) => panic!("{id} ({title}): {how}"),
        outcome @ Outcome::Unproven(_) if !unproven.contains(&id) => {
            panic!("{id} ({title}): {outcome}. Offer it, or name the row: `suite!(.., unproven: [\"{id}\"])`")
        }
        outcome @ Outcome::Passed(_) if unproven.contains(&id) => {
            panic!("{id} ({title}) is named as not proven, and it {outcome}: take it off the list")
        }
        outcome => println!("{id} ({title}): {outcome}"),
    }
}

fn on_this_thread<B: Backend>(id: &str, make: impl FnOnce() -> B, begun: &mpsc::Sender<Time>) -> Outcome {
    let backend = make();
    // Told before anything can hang.
    let _told = begun.send(backend.time());
    let mut builder = match backend.time() {
        Time::Wall => tokio::runtime::Builder::new_multi_thread(),
        Time::Paused => tokio::runtime::Builder::new_current_thread(),
    };
    builder.enable_all().start_paused(backend.time() == Time::Paused);
    let runtime = match builder.build() {
        Ok(runtime) => runtime,
        Err(error) => return Outcome::Failed(format!("no runtime for the row: {error}")),
    };
    let stage = Stage::new(&backend, run_number());
    let ended = runtime.block_on(play(id, &stage));
    let measured = stage.into_measured();
    runtime.block_on(async { drop(backend) });
    runtime.shutdown_background();
    match ended {
        Ok(()) => Outcome::Passed(measured),
        Err(Stop::Failed(how)) => Outcome::Failed(how),
        Err(Stop::Skipped(why)) => Outcome::Skipped(why),
        Err(Stop::Unproven(what)) => Outcome::Unproven(what),
    }
}

/// A number that no other run has, so that queues on a shared broker never meet.
fn run_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let now = u64::try_from(now.as_micros()).unwrap_or_default();
    // Relaxed: only the number itself matters.
    (now << 20) ^ (u64::from(std::process::id()) << 10) ^ NEXT.fetch_add(1, Ordering::Relaxed)
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a value that is no text")
}

#[cfg(test)]
mod tests {
    use queue::Ring;
    use queue_core::WorkerError;

    use super::*;
    use crate::{AnyCodec, Job};

    /// A backend that does one thing when it shall connect.
    struct Connects(fn());

    impl Backend for Connects {
        type Worker = Ring<Job>;

        async fn connect(&self, _: &str, _: AnyCodec) -> Result<Ring<Job>, WorkerError> {
            (self.0)();
            Err(WorkerError::fatal("refused by the test"))
        }

        fn time(&self) -> Time {
            Time::Paused
        }
    }

    fn told(connects: fn(), hangs: Duration) -> String {
        match run_within("C-12", move || Connects(connects), |_| hangs) {
            Outcome::Failed(how) => how,
            outcome => panic!("{outcome}"),
        }
    }

    #[test]
    fn a_worker_that_holds_its_thread_ends_its_row_alone() {
        let hangs = || loop {
            std::thread::park();
        };
        assert!(told(hangs, Duration::from_millis(50)).contains("holds its thread"));
    }

    #[test]
    fn a_worker_that_panics_or_refuses_fails_with_its_words() {
        assert!(told(|| panic!("out of cheese"), HANGS_PAUSED).contains("out of cheese"));
        assert!(told(|| (), HANGS_PAUSED).contains("refused by the test"));
    }

    #[test]
    fn a_backend_that_cannot_be_made_fails_with_its_words() {
        let outcome = run::<Connects>("C-12", || panic!("no such server"));
        assert_eq!(outcome, Outcome::Failed("panicked: no such server".to_owned()));
    }

    #[test]
    fn a_backend_that_is_never_made_ends_its_row() {
        let never = || loop {
            std::thread::park();
        };
        let outcome = run_within::<Connects>("C-12", never, |_| Duration::from_millis(50));
        assert_eq!(outcome, Outcome::Failed("the backend itself was not made within 50ms".to_owned()));
    }

    #[test]
    fn an_unknown_row_fails() {
        assert!(!run("C-999", crate::reference::Reference::new).is_pass());
    }
}
