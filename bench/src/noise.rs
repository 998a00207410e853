//! Whether the machine left a run alone.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Of threads that have ended, in nanoseconds: the kernel forgets them. Relaxed: read after they were joined.
static RAN: AtomicU64 = AtomicU64::new(0);
static WAITED: AtomicU64 = AtomicU64::new(0);

/// What the scheduler says of this process so far, all threads together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    /// Time on a core.
    ran: Duration,
    /// Time runnable without a core: somebody else had it.
    waited: Duration,
}

impl Usage {
    /// A reading; nothing where the kernel does not tell.
    pub(crate) fn now() -> Self {
        // The kernel brings the numbers of the thread that asks up to date when it yields.
        std::thread::yield_now();
        let ended = [&RAN, &WAITED].map(|sum| sum.load(Ordering::Relaxed));
        let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let [ran, waited] = tasks
            .map(|task| read(&task.path().join("schedstat")))
            .fold(ended, |sum, task| [sum[0] + task[0], sum[1] + task[1]]);
        Self { ran: Duration::from_nanos(ran), waited: Duration::from_nanos(waited) }
    }

    /// What happened since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self { ran: self.ran.saturating_sub(earlier.ran), waited: self.waited.saturating_sub(earlier.waited) }
    }

    /// Whether a run of `wall` was disturbed: its threads waited for a core for more than 5 % of it.
    pub(crate) fn is_noisy(self, wall: Duration) -> bool {
        self.waited > wall / 20
    }

    /// Time on cores.
    pub(crate) const fn worked(self) -> Duration {
        self.ran
    }

    /// How many cores were busy with a run of `wall`.
    pub(crate) fn cores(self, wall: Duration) -> f64 {
        self.ran.as_secs_f64() / wall.as_secs_f64().max(1e-9)
    }
}

/// To be called by a thread of a run, as the last that it does.
pub(crate) fn end_thread() {
    std::thread::yield_now();
    let [ran, waited] = read("/proc/thread-self/schedstat".as_ref());
    RAN.fetch_add(ran, Ordering::Relaxed);
    WAITED.fetch_add(waited, Ordering::Relaxed);
}

/// Nanoseconds on a core, and runnable without one.
fn read(schedstat: &Path) -> [u64; 2] {
    let text = fs::read_to_string(schedstat).unwrap_or_default();
    let mut numbers = text.split_whitespace().map(|word| word.parse().unwrap_or(0));
    [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)]
}
