//! Signals to a server, and what it does.

use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::brokers::BrokerError;

/// To a process.
pub(super) fn process(pid: u32, signal: Signal) -> Result<(), BrokerError> {
    send(pid, signal, kill_process)
}

/// To each process of the group that `pid` leads.
pub(super) fn group(pid: u32, signal: Signal) -> Result<(), BrokerError> {
    send(pid, signal, kill_process_group)
}

fn send(pid: u32, signal: Signal, by: fn(Pid, Signal) -> Result<(), Errno>) -> Result<(), BrokerError> {
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
    match raw.map_or(Err(Errno::SRCH), |pid| by(pid, signal)) {
        // It has ended: what was to happen has happened.
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(error) => Err(BrokerError::Signal { pid, source: error.into() }),
    }
}

/// The letter of its state: `T` for stopped, `Z` for a zombie; `None` when there is no such process.
pub(super) fn state(pid: u32) -> Option<char> {
    let stat = match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat,
        Err(_) if cfg!(target_os = "linux") => return None,
        Err(_) => {
            let ps = Command::new("ps").args(["-o", "state=", "-p", &pid.to_string()]).output().ok()?;
            return String::from_utf8_lossy(&ps.stdout).trim().chars().next();
        }
    };
    // The name before it stands in brackets, and can hold anything.
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}
