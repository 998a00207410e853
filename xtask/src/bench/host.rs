//! The machine, as far as it matters to a number.

use std::fmt;
use std::fs;
use std::num::NonZeroUsize;
use std::process::Command;

use serde_json::{Value, json};

/// Where and when numbers were taken.
#[derive(Debug)]
pub(super) struct Host {
    cpu: String,
    cores: usize,
    kernel: String,
    rustc: String,
    pub(super) date: String,
}

impl Host {
    pub(super) fn read() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        let cpu = text("/proc/cpuinfo");
        let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown processor");
        let kernel = text("/proc/sys/kernel/osrelease");
        // The rest of it names a distribution's build.
        let kernel: Vec<_> = kernel.trim().split(['.', '-']).take(2).collect();
        Self {
            cpu: cpu.trim_start_matches([' ', '\t', ':']).to_owned(),
            cores: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            kernel: format!("{} {}", std::env::consts::OS, kernel.join(".")),
            rustc: said(Command::new("rustc").arg("--version")),
            date: said(Command::new("date").args(["-u", "+%Y-%m-%d"])),
        }
    }

    /// What fits under a chart.
    pub(super) fn brief(&self) -> String {
        let Self { cpu, cores, kernel, rustc, .. } = self;
        let rustc: Vec<_> = rustc.split(' ').take(2).collect();
        format!("{cpu}, {cores} cores, {kernel}, {}", rustc.join(" "))
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "cpu": self.cpu, "cores": self.cores, "kernel": self.kernel, "rustc": self.rustc, "date": self.date,
            "allocator": ALLOCATOR, "profile": PROFILE,
        })
    }
}

const ALLOCATOR: &str = "the system's allocator";
const PROFILE: &str = "release with defaults: no LTO, no target-cpu";

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, cores, kernel, rustc, .. } = self;
        write!(f, "{cpu}, {cores} cores, {kernel}, {rustc}, {ALLOCATOR}, {PROFILE}")
    }
}

/// The first line that a program writes.
fn said(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).lines().next().unwrap_or("unknown").to_owned()
}
