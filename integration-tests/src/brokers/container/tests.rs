use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::engine::Engine;
use super::labels::{is_orphan, of_this_process};
use crate::brokers::{Deadline, unique};

/// A socket in the folder for temporary files, gone when this is dropped.
struct Socket(PathBuf);

impl Socket {
    fn new() -> (Self, UnixListener, String) {
        let path = std::env::temp_dir().join(unique("engine"));
        let listener = UnixListener::bind(&path).unwrap();
        let host = format!("unix://{}", path.display());
        (Self(path), listener, host)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

#[test]
fn an_engine_that_hangs_costs_two_seconds_and_is_named() {
    let (_socket, _listener, host) = Socket::new();
    let begun = Deadline::after(Duration::from_secs(60));
    let (shown, why) = Engine::look(Some(&host)).unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert_eq!((shown, why.as_str()), (host, "it has not answered within 2s"));
}

#[test]
fn an_engine_that_is_not_there_costs_nothing() {
    let begun = Deadline::after(Duration::from_secs(60));
    let (shown, why) = Engine::look(Some("unix:///nowhere/docker.sock")).unwrap_err();
    assert!(shown.contains("/nowhere") && why.contains("No such file"), "{shown}: {why}");
    let (_, why) = Engine::look(Some("ssh://one")).unwrap_err();
    assert!(why.contains("tcp://HOST:PORT"), "{why}");
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[test]
fn an_engine_is_asked_for_its_images() {
    let (_socket, listener, host) = Socket::new();
    let server = thread::spawn(move || {
        for answer in ["200 OK", "200 OK", "404 Not Found"] {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
            stream.write_all(format!("HTTP/1.0 {answer}\r\n\r\n{{}}").as_bytes()).unwrap();
        }
    });
    let engine = Engine::look(Some(&host)).unwrap();
    engine.must_have("one", "test").unwrap();
    let error = engine.must_have("two", "test").unwrap_err().to_string();
    assert_eq!(error, "the Docker engine has no image two:test; `cargo xtask brokers images` builds it");
    server.join().unwrap();
}

#[test]
fn only_a_container_of_a_dead_process_of_this_world_is_an_orphan() {
    let [(owner, pid), (world, here)] = of_this_process();
    // Above the largest id that Linux gives.
    let dead = "2147483647";
    assert!(is_orphan(&json!({ "Labels": { owner: dead, world: here } })));
    assert!(!is_orphan(&json!({ "Labels": { owner: pid, world: here } })));
    assert!(!is_orphan(&json!({ "Labels": { owner: dead, world: "another machine" } })));
    assert!(!is_orphan(&json!({ "Labels": { owner: dead } })));
    assert!(!is_orphan(&json!({})));
}
