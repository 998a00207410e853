//! Where `up` leaves its process, and how to talk to it.
//!
//! It listens on a socket in the target folder: `status` is answered with a line a broker, `down` with `done` when all is gone. A socket
//! that nobody answers is of a process that was killed.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Failure;

/// The socket's name. The process goes to its folder first: a path of a socket may have 100 bytes only.
const SOCKET: &str = "holder.sock";
/// What it writes.
pub(super) const LOG: &str = "log";
/// The longest that it may take to end all brokers.
const DEADLINE: Duration = Duration::from_secs(60);

/// Makes the folder and goes there.
pub(super) fn enter() -> Result<PathBuf, Failure> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(workspace, PathBuf::from);
    let folder = target.join("queue-test");
    let entered = std::fs::create_dir_all(&folder).and_then(|()| std::env::set_current_dir(&folder));
    entered.map_err(Failure::io(format!("entering {}", folder.display())))?;
    Ok(folder)
}

/// Asks the process; `None` when there is none.
pub(super) fn ask(word: &str) -> Option<String> {
    let ask = || -> std::io::Result<String> {
        let mut socket = UnixStream::connect(SOCKET)?;
        socket.set_read_timeout(Some(DEADLINE))?;
        socket.write_all(format!("{word}\n").as_bytes())?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().ok()
}

/// Becomes the process that is asked.
pub(super) fn listen() -> Result<UnixListener, Failure> {
    drop(std::fs::remove_file(SOCKET));
    UnixListener::bind(SOCKET).map_err(Failure::io("listening on the socket"))
}

/// Nobody is asked any more.
pub(super) fn leave() {
    drop(std::fs::remove_file(SOCKET));
    drop(std::fs::remove_file(LOG));
}
