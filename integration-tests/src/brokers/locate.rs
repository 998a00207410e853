//! Where programs are, and where what is downloaded is kept.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The first executable file of that name in PATH.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    in_path(name, &env::var_os("PATH")?)
}

fn in_path(name: &str, path: &OsStr) -> Option<PathBuf> {
    env::split_paths(path).map(|folder| folder.join(name)).find(|file| executable(file))
}

/// Whether it is a file that somebody may execute.
pub(super) fn executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Java's virtual machine: of `JAVA_HOME`, else in PATH.
pub(super) fn java() -> Option<PathBuf> {
    let home = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin/java"));
    home.filter(|java| executable(java)).or_else(|| program("java"))
}

/// The folder of what is downloaded once: `QUEUE_TEST_CACHE`, else `queue-test` in the user's cache folder.
pub(super) fn cache() -> PathBuf {
    let of = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let user = || of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")));
    of("QUEUE_TEST_CACHE")
        .or_else(|| Some(user()?.join("queue-test")))
        .unwrap_or_else(|| env::temp_dir().join("queue-test-cache"))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::in_path;

    #[test]
    fn a_program_is_found_in_the_path_it_is_given() {
        assert!(in_path("sh", OsStr::new("/nowhere:/bin")).is_some());
        assert_eq!(in_path("sh", OsStr::new("/nowhere")), None);
        assert_eq!(in_path("", OsStr::new("/bin")), None);
    }
}
