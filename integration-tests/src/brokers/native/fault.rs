//! What a test does to a server of its own. Each call waits for its effect.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;

use super::{Native, SIGNAL, STOP, signal};
use crate::brokers::{BrokerError, Deadline};

impl Native {
    /// Ends it at once, as a crash does. Its data stay.
    pub(in crate::brokers) fn kill(&mut self) -> Result<(), BrokerError> {
        let pid = self.running()?;
        signal::group(pid, Signal::KILL)?;
        self.ended(SIGNAL, "the end after SIGKILL")
    }

    /// Asks it to end, and waits until it has.
    pub(in crate::brokers) fn stop(&mut self) -> Result<(), BrokerError> {
        let pid = self.running()?;
        if self.frozen {
            self.thaw()?;
        }
        signal::process(pid, Signal::TERM)?;
        self.ended(STOP, "the end after SIGTERM")
    }

    /// Takes its data away. It must be down; its next start is as its first.
    pub(in crate::brokers) fn wipe(&mut self) -> Result<(), BrokerError> {
        if self.child.is_some() {
            let way_out = "kill or stop it before its data are taken away";
            return Err(BrokerError::State { server: self.server, is: "running", way_out });
        }
        match fs::remove_dir_all(&self.data) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(BrokerError::Folder { path: self.data.clone(), source: error })
            }
            _ => Ok(()),
        }
    }

    /// Stops it where it stands: connections stay, and the kernel accepts new ones for it, but it does nothing.
    pub(in crate::brokers) fn freeze(&mut self) -> Result<(), BrokerError> {
        let pid = self.running()?;
        signal::group(pid, Signal::STOP)?;
        self.frozen = true;
        let stopped = || (signal::state(pid) == Some('T')).then_some(());
        Deadline::after(SIGNAL).until(stopped).ok_or_else(|| self.late("a stop after SIGSTOP", SIGNAL))
    }

    /// Lets it go on, and waits until it answers.
    pub(in crate::brokers) fn thaw(&mut self) -> Result<(), BrokerError> {
        let pid = self.running()?;
        signal::group(pid, Signal::CONT)?;
        self.frozen = false;
        Deadline::after(SIGNAL)
            .until(|| self.ask().ok())
            .map(drop)
            .ok_or_else(|| self.late("an answer after SIGCONT", SIGNAL))
    }

    /// Its pid, if it has not ended by itself meanwhile.
    fn running(&mut self) -> Result<u32, BrokerError> {
        let way_out = "start it first";
        let down = BrokerError::State { server: self.server, is: "down", way_out };
        if self.has_ended() {
            return Err(down);
        }
        self.pid().ok_or(down)
    }

    fn ended(&mut self, after: Duration, what: &str) -> Result<(), BrokerError> {
        let port = self.port;
        let deadline = Deadline::after(after);
        let gone = deadline.until(|| (self.has_ended() && crate::brokers::ports::is_free(port)).then_some(()));
        gone.ok_or_else(|| self.late(what, after))
    }

    fn late(&self, what: &str, after: Duration) -> BrokerError {
        BrokerError::Late { what: format!("{what} of {}", self.server).into(), after, last: self.last_words() }
    }
}

impl Drop for Native {
    /// Ends it and removes its folder. Waits for both, seconds at most.
    fn drop(&mut self) {
        if let Some(pid) = self.pid() {
            drop(signal::group(pid, Signal::KILL));
            let gone = Deadline::after(SIGNAL).until(|| self.has_ended().then_some(()));
            if gone.is_none() {
                crate::brokers::say(&format!("{} with the pid {pid} has not ended after SIGKILL", self.server));
            }
        }
    }
}
