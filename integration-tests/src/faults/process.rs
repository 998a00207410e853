//! Stops, continues and ends a process from outside, as a machine or an operator would.
//!
//! Works on any process of the same user, a broker or a consumer, by its pid. States are read from `/proc`, so this is for Linux.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{sleep, timeout};

/// The longest that a state is waited for.
const DEADLINE: Duration = Duration::from_secs(10);

/// What a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It runs, or waits for something.
    Running,
    /// All its threads are stopped by a signal or a debugger.
    Stopped,
    /// It has ended and its parent has not asked how.
    Zombie,
    /// There is none of that pid.
    Gone,
}

/// A process could not be seen or signalled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// The pid is none, or one that nobody should signal: 0 is a group, 1 is init.
    #[error("{0} is no process that a test may signal; pass the id of a child")]
    Pid(u32),
    /// The process has ended.
    #[error("process {0} is gone; it ended before the test did something to it, so look at its output")]
    Gone(u32),
    /// The system refused the signal.
    #[error("process {pid} cannot be signalled; run the test as the user of the process")]
    Signal {
        /// Whose.
        pid: u32,
        /// Why not.
        source: io::Error,
    },
    /// `/proc` cannot be read.
    #[error("the state of process {pid} cannot be read from /proc; mount it")]
    State {
        /// Whose.
        pid: u32,
        /// Why not.
        source: io::Error,
    },
    /// The process did not come into the state.
    #[error("process {pid} is {is:?} and not {awaited:?} after {after:?}")]
    Late {
        /// Whose.
        pid: u32,
        /// What it does instead.
        is: State,
        /// What was waited for.
        awaited: State,
        /// The deadline.
        after: Duration,
    },
}

/// A stopped process, which goes on when this is dropped.
///
/// Drop it before the process is waited for: afterwards its pid can be another's, who would be told to go on.
#[derive(Debug)]
#[must_use = "the process goes on when this is dropped"]
pub struct Frozen {
    pid: u32,
}

impl Frozen {
    /// Whose.
    #[must_use]
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// Lets it go on, and tells if that failed, which a drop cannot.
    ///
    /// # Errors
    ///
    /// As [`thaw`].
    pub fn thaw(self) -> Result<(), ProcessError> {
        thaw(self.pid)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        // It may have been killed meanwhile, and a second SIGCONT does nothing.
        drop(thaw(self.pid));
    }
}

/// Stops a process with SIGSTOP until the guard is dropped, and returns when each of its threads stands still.
///
/// Its connections stay open, and the kernel still accepts new ones for it.
///
/// # Errors
///
/// [`ProcessError`] when there is no such process, or it has not stopped within 10 seconds. It goes on then.
///
/// # Cancel safety
///
/// The process goes on when the future is dropped.
pub async fn freeze(pid: u32) -> Result<Frozen, ProcessError> {
    signal(pid, Signal::STOP)?;
    let frozen = Frozen { pid };
    until(pid, State::Stopped).await?;
    Ok(frozen)
}

/// Lets a stopped process go on, with SIGCONT.
///
/// # Errors
///
/// [`ProcessError`] when there is no such process.
pub fn thaw(pid: u32) -> Result<(), ProcessError> {
    signal(pid, Signal::CONT)
}

/// Ends a process with SIGKILL, as the kernel does when memory runs out. It can be stopped.
///
/// It is a [`Zombie`](State::Zombie) until its parent waits for it.
///
/// # Errors
///
/// [`ProcessError`] when there is no such process.
pub fn kill(pid: u32) -> Result<(), ProcessError> {
    signal(pid, Signal::KILL)
}

/// Asks a process to end, with SIGTERM. A stopped one hears it when it goes on.
///
/// # Errors
///
/// [`ProcessError`] when there is no such process.
pub fn terminate(pid: u32) -> Result<(), ProcessError> {
    signal(pid, Signal::TERM)
}

fn signal(pid: u32, signal: Signal) -> Result<(), ProcessError> {
    let raw = i32::try_from(pid).ok().filter(|raw| *raw > 1);
    let process = raw.and_then(Pid::from_raw).ok_or(ProcessError::Pid(pid))?;
    kill_process(process, signal).map_err(|error| match error {
        rustix::io::Errno::SRCH => ProcessError::Gone(pid),
        error => ProcessError::Signal { pid, source: error.into() },
    })
}

/// What a process does now.
///
/// # Errors
///
/// [`ProcessError::State`] when `/proc` cannot be read.
pub fn state(pid: u32) -> Result<State, ProcessError> {
    let process = Path::new("/proc").join(pid.to_string());
    match read(&process) {
        Ok(state) => Ok(state),
        // The second: it ended between two reads.
        Err(error) if error.kind() == io::ErrorKind::NotFound || is_gone(&error) => Ok(State::Gone),
        Err(source) => Err(ProcessError::State { pid, source }),
    }
}

/// Waits until a process is in that state.
///
/// # Errors
///
/// [`ProcessError::Late`] after 10 seconds.
pub async fn until(pid: u32, awaited: State) -> Result<(), ProcessError> {
    let reached = async {
        while state(pid)? != awaited {
            sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    };
    match timeout(DEADLINE, reached).await {
        Ok(reached) => reached,
        Err(_) => Err(ProcessError::Late { pid, is: state(pid)?, awaited, after: DEADLINE }),
    }
}

fn is_gone(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::SRCH)
}

fn read(process: &Path) -> io::Result<State> {
    let of_main = letter(&fs::read_to_string(process.join("stat"))?)?;
    if of_main != State::Stopped {
        return Ok(of_main);
    }
    // A signal stops one thread after the other.
    for thread in fs::read_dir(process.join("task"))? {
        match fs::read_to_string(thread?.path().join("stat")) {
            Ok(stat) if letter(&stat)? == State::Running => return Ok(State::Running),
            Err(error) if error.kind() != io::ErrorKind::NotFound && !is_gone(&error) => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(State::Stopped)
}

/// The state in a `stat` line: the letter after the name, which is in parentheses and may hold any character (proc(5)).
fn letter(stat: &str) -> io::Result<State> {
    let after_name = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
    match after_name.and_then(|rest| rest.chars().next()) {
        Some('T' | 't') => Ok(State::Stopped),
        Some('Z') => Ok(State::Zombie),
        Some('X' | 'x') => Ok(State::Gone),
        Some(_) => Ok(State::Running),
        None => Err(io::Error::new(io::ErrorKind::InvalidData, "no state after the name")),
    }
}

#[cfg(test)]
mod tests {
    use super::{ProcessError, State, kill, letter, state};

    #[test]
    fn a_name_cannot_pass_for_a_state() {
        assert_eq!(letter("7 (a) Z (b)) T 1 7").unwrap(), State::Stopped);
        assert_eq!(letter("7 (sleep) S 1 7").unwrap(), State::Running);
        assert!(letter("7 (sleep").is_err());
    }

    #[test]
    fn groups_and_init_are_never_signalled() {
        for pid in [0, 1, u32::MAX] {
            assert!(matches!(kill(pid), Err(ProcessError::Pid(of)) if of == pid));
        }
        assert_eq!(state(u32::MAX).unwrap(), State::Gone);
    }
}
