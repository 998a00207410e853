//! A disk that is full, and a Redis on it.

use std::fs;
use std::io::ErrorKind;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use integration_tests::faults::disk::SmallDisk;
use integration_tests::faults::process::{State, kill, state};
use redis::AsyncCommands;
use tempfile::TempDir;
use tokio::time::sleep;

use crate::child::{self, Killed};
use crate::redis::{address, connect, start};
use crate::wire::{until, within};

const SIZE: NonZeroU64 = NonZeroU64::new(4 * 1024 * 1024).unwrap();

fn is_mounted(path: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    mounts.lines().any(|mount| mount.split(' ').nth(1) == path.to_str())
}

#[test]
fn a_full_disk_takes_nothing_until_it_is_freed() {
    let disk = SmallDisk::mount(SIZE).unwrap();
    assert_eq!(disk.fill().unwrap(), SIZE.get());
    assert_eq!(disk.fill().unwrap(), 0);
    let full = fs::write(disk.path().join("file"), "text").unwrap_err();
    assert_eq!(full.kind(), ErrorKind::StorageFull);
    disk.free().unwrap();
    disk.free().unwrap();
    fs::write(disk.path().join("file"), "text").unwrap();
    assert_eq!(disk.fill().unwrap(), SIZE.get() - 4096);
}

#[test]
fn a_dropped_disk_is_neither_mounted_nor_there_even_if_it_is_busy() {
    let disk = SmallDisk::mount(SIZE).unwrap();
    let path = disk.path().to_path_buf();
    let watcher = disk.watcher();
    assert!(is_mounted(&path));
    let busy = fs::File::create(path.join("open")).unwrap();
    drop(disk);
    assert!(!is_mounted(&path));
    assert!(!path.exists());
    assert_eq!(state(watcher).unwrap(), State::Gone);
    drop(busy);
}

/// The child: has a disk, says where, and waits to be killed.
#[test]
fn holder() {
    if child::is_one() {
        let disk = SmallDisk::mount(SIZE).unwrap();
        fs::write(std::env::var_os("PLACE").unwrap(), disk.path().to_str().unwrap()).unwrap();
        std::thread::park_timeout(Duration::from_secs(60));
    }
}

#[tokio::test]
async fn the_disk_of_a_killed_process_is_unmounted_as_well() {
    let dir = TempDir::new().unwrap();
    let place = dir.path().join("place");
    let holder = Killed::start(child::command("disk::holder").env("PLACE", &place));
    until(|| fs::read_to_string(&place).is_ok_and(|path| !path.is_empty())).await;
    let path = PathBuf::from(fs::read_to_string(&place).unwrap());
    assert!(is_mounted(&path));
    kill(holder.id()).unwrap();
    until(|| !path.exists()).await;
    assert!(!is_mounted(&path));
}

#[tokio::test]
async fn redis_refuses_writes_while_its_disk_is_full() {
    let disk = SmallDisk::mount(SIZE).unwrap();
    let Some(redis) = start(Some(disk.path())).await else { return };
    let mut client = connect(address(&redis)).await;
    client.set::<_, _, ()>("key", "before").await.unwrap();
    disk.fill().unwrap();

    // More than the rest of the last page. Redis tells the failure to the clients of the next writes.
    let value = vec![b'x'; 10_000];
    let refused = within(async {
        loop {
            match client.set::<_, _, ()>("big", &value).await {
                Ok(()) => sleep(Duration::from_millis(1)).await,
                Err(error) => return error,
            }
        }
    })
    .await;
    assert_eq!(refused.code(), Some("MISCONF"), "{refused:?}");
    assert!(refused.to_string().contains("No space left on device"), "{refused:?}");

    disk.free().unwrap();
    within(async {
        while client.set::<_, _, ()>("key", "after").await.is_err() {
            sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    assert_eq!(client.get::<_, String>("key").await.unwrap(), "after");
}
