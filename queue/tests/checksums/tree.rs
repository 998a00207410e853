//! A directory for one test, the example over it, and `sha256sum` to judge it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

/// No step of a test takes this long: past it the program hangs.
const LIMIT: Duration = Duration::from_secs(120);
/// Who may read nothing that is not for all.
const NOBODY: u32 = 65_534;

/// A directory `tree` to walk, and its surroundings. Gone when dropped.
pub(crate) struct Tree {
    base: PathBuf,
}

impl Tree {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let base = std::env::temp_dir().join(format!("checksums-test-{}-{number}", std::process::id()));
        fs::create_dir_all(base.join("tree")).unwrap();
        Self { base: fs::canonicalize(base).unwrap() }
    }

    /// The directory that is walked.
    pub(crate) fn root(&self) -> PathBuf {
        self.base.join("tree")
    }

    /// Something beside it.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// Writes a file, and what leads to it.
    pub(crate) fn write(&self, name: &[u8], content: &[u8]) -> PathBuf {
        let path = self.root().join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn pipe(&self, name: &str) {
        let made = std::process::Command::new("mkfifo").arg(self.root().join(name)).status().unwrap();
        assert!(made.success());
    }

    /// The example, with the tree as its first argument.
    pub(crate) fn checksums<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = bare(&example());
        command.arg(self.root()).args(arguments);
        command
    }

    /// The example as somebody who is stopped by file permissions, which root is not.
    pub(crate) fn checksums_as_nobody(&self) -> Command {
        if fs::metadata(&self.base).unwrap().uid() != 0 {
            return self.checksums(NO_ARGUMENTS);
        }
        // Where it was built nobody else may be able to go.
        let copy = self.beside("program");
        fs::copy(example(), &copy).unwrap();
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = bare(&copy);
        command.arg(self.root()).uid(NOBODY).gid(NOBODY);
        command
    }

    /// Whether `sha256sum --check`, run inside the tree, finds every line of `manifest` well formed and right.
    /// True where there is no such program.
    pub(crate) async fn is_confirmed(&self, manifest: &[u8]) -> bool {
        let file = self.beside("to-check");
        fs::write(&file, manifest).unwrap();
        let mut command = Command::new("sha256sum");
        command.args(["--check", "--strict", "--quiet"]).arg(&file).current_dir(self.root()).kill_on_drop(true);
        match timeout(LIMIT, command.output()).await.expect("sha256sum hangs") {
            Ok(output) => output.status.success() && output.stderr.is_empty(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // What is left over is in the system's folder for such things.
        drop(fs::remove_dir_all(&self.base));
    }
}

pub(crate) const NO_ARGUMENTS: [&str; 0] = [];

fn bare(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// The example without any argument.
pub(crate) fn alone() -> Command {
    bare(&example())
}

/// Where `cargo test` puts examples: it builds them unless it is told to build one test alone.
fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join("examples/checksums");
    assert!(path.exists(), "{} is missing: `cargo build -p queue --example checksums` makes it", path.display());
    path
}

/// What a program said.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

/// Runs it to its end.
pub(crate) async fn run(mut command: Command) -> Said {
    let output = timeout(LIMIT, command.output()).await.expect("the program hangs").unwrap();
    let Output { status, stdout, stderr } = output;
    Said { code: status.code(), out: stdout, err: String::from_utf8(stderr).unwrap() }
}

/// The lines of a manifest, as text.
pub(crate) fn lines(manifest: &[u8]) -> Vec<String> {
    manifest.split_inclusive(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into_owned()).collect()
}

/// The names in a manifest, escaped as they are there.
pub(crate) fn names(manifest: &[u8]) -> Vec<String> {
    lines(manifest).iter().map(|line| line.split_once("  ").unwrap().1.trim_end_matches('\n').to_owned()).collect()
}

/// A program that runs.
pub(crate) struct Running {
    child: Child,
    err: BufReader<ChildStderr>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let err = BufReader::new(child.stderr.take().unwrap());
        Self { child, err }
    }

    pub(crate) fn stdout(&mut self) -> tokio::process::ChildStdout {
        self.child.stdout.take().unwrap()
    }

    /// Presses Ctrl-C.
    pub(crate) async fn interrupt(&self) {
        let id = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().await.unwrap().success());
    }

    /// Reads what it says until a line has `part`.
    pub(crate) async fn says(&mut self, part: &str) -> String {
        let read = async {
            let mut line = String::new();
            while !line.contains(part) {
                line.clear();
                assert!(self.err.read_line(&mut line).await.unwrap() > 0, "it ended without saying {part:?}");
            }
            line
        };
        timeout(LIMIT, read).await.unwrap_or_else(|_| panic!("it never said {part:?}"))
    }

    /// Waits until it has `file` open.
    #[cfg(target_os = "linux")]
    pub(crate) async fn opens(&self, file: &Path) {
        let open = format!("/proc/{}/fd", self.child.id().unwrap());
        until(|| fs::read_dir(&open).unwrap().flatten().any(|fd| fs::read_link(fd.path()).is_ok_and(|to| to == file)))
            .await;
    }

    /// Waits for its end.
    pub(crate) async fn code(&mut self) -> Option<i32> {
        timeout(LIMIT, self.child.wait()).await.expect("it does not end").unwrap().code()
    }
}

/// Waits until something holds that cannot be waited for.
pub(crate) async fn until(holds: impl Fn() -> bool) {
    let look = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(LIMIT, look).await.expect("it never came true");
}

/// `--out` and a file.
pub(crate) fn out(file: &Path) -> [OsString; 2] {
    ["--out".into(), file.into()]
}
