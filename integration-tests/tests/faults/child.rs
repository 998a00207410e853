//! This test binary as a child process, which a test can stop and kill.

use std::ops::{Deref, DerefMut};
use std::process::{Child, Command, Stdio};

/// The variable without which a child's part, which the harness takes for a test, does nothing.
const PART: &str = "FAULT_TEST_CHILD";

/// A command that runs a test of this binary as a program.
pub(crate) fn command(part: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", part, "--nocapture"]).env(PART, "1");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// Whether this process is such a child.
pub(crate) fn is_one() -> bool {
    std::env::var_os(PART).is_some()
}

/// A child that is killed with its test.
pub(crate) struct Killed(Child);

impl Killed {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }
}

impl Deref for Killed {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Killed {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).unwrap();
    }
}
