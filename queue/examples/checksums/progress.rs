//! What is counted and what is said.

use std::fmt;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{HumanBytes, ProgressBar, ProgressStyle};

/// Counts of one run, and a bar where standard error is a terminal. All orderings are relaxed: statistics, read at the end.
pub(crate) struct Progress {
    bar: ProgressBar,
    written: AtomicU64,
    unreadable: AtomicU64,
    skipped: AtomicU64,
    bytes: Arc<AtomicU64>,
}

/// The counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    /// Lines in the manifest.
    pub(crate) written: u64,
    /// Files and directories that could not be read.
    pub(crate) unreadable: u64,
    /// What is neither file, directory nor symbolic link.
    pub(crate) skipped: u64,
    /// What was read.
    pub(crate) bytes: u64,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let bytes = Arc::new(AtomicU64::new(0));
        // Hidden by itself where standard error is no terminal.
        let bar = ProgressBar::new(0);
        if !bar.is_hidden() {
            let read = bytes.clone();
            let style =
                ProgressStyle::with_template("{spinner} {pos} of {len} files found so far, {read} in {elapsed}");
            if let Ok(style) = style {
                bar.set_style(style.with_key("read", move |_: &indicatif::ProgressState, to: &mut dyn fmt::Write| {
                    write!(to, "{}", HumanBytes(read.load(Ordering::Relaxed))).unwrap_or_default();
                }));
            }
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { bar, written: AtomicU64::new(0), unreadable: AtomicU64::new(0), skipped: AtomicU64::new(0), bytes }
    }

    /// A file became a job.
    pub(crate) fn found(&self) {
        self.bar.inc_length(1);
    }

    pub(crate) fn read(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn written(&self) {
        self.written.fetch_add(1, Ordering::Relaxed);
        self.bar.inc(1);
    }

    /// A job that ended without a line.
    pub(crate) fn file_unreadable(&self, path: &Path, error: &dyn fmt::Display) {
        self.unreadable(path, error);
        self.bar.inc(1);
    }

    pub(crate) fn unreadable(&self, path: &Path, error: &dyn fmt::Display) {
        self.unreadable.fetch_add(1, Ordering::Relaxed);
        // Quoted: a name may hold anything, and must not draw on the terminal.
        self.say(format_args!("cannot read {path:?}: {error}"));
    }

    /// A job that turned out to be no file.
    pub(crate) fn file_skipped(&self, path: &Path, what: &str) {
        self.skipped(path, what);
        self.bar.inc(1);
    }

    pub(crate) fn skipped(&self, path: &Path, what: &str) {
        self.skipped.fetch_add(1, Ordering::Relaxed);
        self.say(format_args!("skipped {path:?}: {what}"));
    }

    pub(crate) fn counts(&self) -> Counts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            written: count(&self.written),
            unreadable: count(&self.unreadable),
            skipped: count(&self.skipped),
            bytes: count(&self.bytes),
        }
    }

    /// A line for the user, above the bar. Where standard error is gone nobody can be told.
    pub(crate) fn say(&self, line: fmt::Arguments<'_>) {
        self.bar.suspend(|| writeln!(std::io::stderr(), "checksums: {line}").unwrap_or_default());
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
