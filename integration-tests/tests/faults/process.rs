//! A consumer process that is stopped, continued and ended from outside.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use integration_tests::faults::process::{ProcessError, State, freeze, kill, state, terminate, thaw, until};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::child::{self, Killed};
use crate::wire;

/// The child: writes a byte every millisecond, on two threads, and ends by itself after a minute.
#[test]
fn heartbeat() {
    if !child::is_one() {
        return;
    }
    let beat = || {
        let mut file = File::options().append(true).open(std::env::var_os("BEATS").unwrap()).unwrap();
        for _ in 0..60_000 {
            file.write_all(b".").unwrap();
            std::thread::park_timeout(Duration::from_millis(1));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(beat);
        beat();
    });
}

struct Consumer {
    child: Killed,
    dir: TempDir,
}

impl Consumer {
    async fn start() -> Self {
        let dir = TempDir::new().unwrap();
        let beats = dir.path().join("beats");
        File::create(&beats).unwrap();
        let child = Killed::start(child::command("process::heartbeat").env("BEATS", &beats));
        let consumer = Self { child, dir };
        consumer.beats_on().await;
        consumer
    }

    fn beats(&self) -> u64 {
        fs::metadata(self.dir.path().join("beats")).unwrap().len()
    }

    async fn beats_on(&self) {
        let before = self.beats();
        wire::until(|| self.beats() > before).await;
    }

    /// A hundred beats' time proves nothing on a machine that stands still; it only must never fail.
    async fn assert_silent(&self) {
        let before = self.beats();
        sleep(Duration::from_millis(100)).await;
        assert_eq!(self.beats(), before);
    }
}

#[tokio::test]
async fn a_stopped_process_stands_still_and_goes_on_afterwards() {
    let consumer = Consumer::start().await;
    let pid = consumer.child.id();
    assert_eq!(state(pid).unwrap(), State::Running);

    let frozen = freeze(pid).await.unwrap();
    assert_eq!((frozen.pid(), state(pid).unwrap()), (pid, State::Stopped));
    consumer.assert_silent().await;
    frozen.thaw().unwrap();
    consumer.beats_on().await;

    drop(freeze(pid).await.unwrap());
    consumer.beats_on().await;
    assert_eq!(state(pid).unwrap(), State::Running);
}

#[tokio::test]
async fn a_killed_process_is_a_zombie_until_it_is_waited_for() {
    let mut consumer = Consumer::start().await;
    let pid = consumer.child.id();
    let frozen = freeze(pid).await.unwrap();
    kill(pid).unwrap();
    until(pid, State::Zombie).await.unwrap();
    assert_eq!(consumer.child.wait().unwrap().signal(), Some(9));
    assert_eq!(state(pid).unwrap(), State::Gone);
    assert!(matches!(frozen.thaw(), Err(ProcessError::Gone(of)) if of == pid));
}

#[tokio::test]
async fn a_stopped_process_is_asked_to_end_and_hears_it_when_it_goes_on() {
    let mut consumer = Consumer::start().await;
    let pid = consumer.child.id();
    let frozen = freeze(pid).await.unwrap();
    terminate(pid).unwrap();
    consumer.assert_silent().await;
    assert_eq!(state(pid).unwrap(), State::Stopped);
    thaw(pid).unwrap();
    drop(frozen);
    until(pid, State::Zombie).await.unwrap();
    assert_eq!(consumer.child.wait().unwrap().signal(), Some(15));
}
