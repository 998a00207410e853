//! The example as a process, and the folder it writes to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// No step takes this long: past it something hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// Fails where a step hangs.
pub(crate) async fn in_time<T>(step: impl Future<Output = T>) -> T {
    timeout(LIMIT, step).await.expect("it hangs")
}

/// A folder of one test. Gone when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("service-test-{}-{number}", std::process::id())))
    }

    /// The id and the content of each file that is finished. No other is left.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        assert_eq!(fs::read_dir(self.0.join("unfinished")).unwrap().count(), 0, "half a file is left");
        let files = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        files
            .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(path).unwrap()))
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It is not there where the program never made it.
        drop(fs::remove_dir_all(&self.0));
    }
}

/// The example, serving.
pub(crate) struct Service {
    child: Child,
    pub(crate) address: String,
    out: Lines<BufReader<ChildStdout>>,
    err: JoinHandle<String>,
}

/// What it said, after the line that says where it listens.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Service {
    /// Starts it on a free port, and waits until it listens.
    pub(crate) async fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = Command::new(example());
        command.args(["--listen", "127.0.0.1:0", "--outbox"]).arg(&folder.0).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let err = tokio::spawn(async move {
            let mut said = String::new();
            stderr.read_to_string(&mut said).await.unwrap();
            said
        });
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = in_time(out.next_line()).await.unwrap().expect("it ended before it listened");
        let address = first.strip_prefix("listening on ").unwrap().to_owned();
        Self { child, address, out, err }
    }

    /// Sends it a signal, by name.
    pub(crate) async fn signal(&self, name: &str) {
        let id = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().await.unwrap().success());
    }

    /// Waits for its end, and reads what it says until then.
    pub(crate) async fn ended(&mut self) -> Said {
        let mut out = String::new();
        while let Some(line) = in_time(self.out.next_line()).await.unwrap() {
            out.push_str(&line);
            out.push('\n');
        }
        let code = in_time(self.child.wait()).await.unwrap().code();
        Said { code, out, err: in_time(&mut self.err).await.unwrap() }
    }
}

impl Said {
    /// The ids in the lines that begin so.
    pub(crate) fn ids(&self, start: &str) -> BTreeSet<String> {
        let lines: Vec<_> = self.out.lines().filter_map(|line| line.strip_prefix(start)).collect();
        let ids: BTreeSet<_> = lines.iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
        assert_eq!(ids.len(), lines.len(), "a job is named twice");
        ids
    }

    /// Taken, done, dead, not done: its last line.
    pub(crate) fn totals(&self) -> [usize; 4] {
        let last = self.out.lines().last().expect("it said nothing in the end");
        let number = |name| last.split(", ").find_map(|part| part.strip_suffix(name)?.trim().parse().ok());
        [" taken", " done", " dead", " not done"].map(|name| number(name).unwrap_or_else(|| panic!("{name}: {last}")))
    }
}

/// Where `cargo test` puts examples: it builds them unless it is told to build one test alone.
fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join("examples/service");
    assert!(path.exists(), "{} is missing: `cargo build -p queue --example service` makes it", path.display());
    path
}
