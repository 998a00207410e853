//! Whose a container is: so those of dead processes are found.

use std::fs;

use rustix::process::{Pid, test_kill_process};
use serde_json::Value;

use super::engine::Engine;
use crate::brokers::say;

/// The id of the process that started it.
const OWNER: &str = "queue-test.owner";
/// The machine, its boot and its world of process ids: the engine can serve several.
const WORLD: &str = "queue-test.world";

pub(super) fn of_this_process() -> [(&'static str, String); 2] {
    [(OWNER, std::process::id().to_string()), (WORLD, world())]
}

/// Where process ids mean the same. Empty where nothing tells: then those of all such machines that share an engine are one.
fn world() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{}{}", boot.trim(), space.display())
}

/// Removes the containers of processes that are no more. Where no engine answers, there are none to remove.
pub fn sweep() {
    let Ok(engine) = Engine::find() else { return };
    // {"label":["queue-test.owner"]}
    let filter = "%7B%22label%22%3A%5B%22queue-test.owner%22%5D%7D";
    let Ok((200, body)) = engine.ask("GET", &format!("/containers/json?all=1&filters={filter}")) else { return };
    let list: Value = serde_json::from_slice(&body).unwrap_or_default();
    for container in list.as_array().into_iter().flatten().filter(|container| is_orphan(container)) {
        let Some(id) = container.get("Id").and_then(Value::as_str) else { continue };
        match engine.ask("DELETE", &format!("/containers/{id}?force=1&v=1")) {
            Ok((204 | 404, _)) => say(&format!("removed the container {id}, whose process is gone")),
            // Another sweep is removing it.
            Ok((409, _)) => {}
            Ok((status, _)) => say(&format!("the engine answers {status} to the removal of the container {id}")),
            Err(error) => say(&format!("the container {id}, whose process is gone, was not removed: {error}")),
        }
    }
}

/// Of this world, and of a process that is none any more.
pub(super) fn is_orphan(container: &Value) -> bool {
    let label = |name| container.get("Labels")?.get(name)?.as_str();
    let owner = label(OWNER).and_then(|pid| Pid::from_raw(pid.parse().ok()?));
    // Not a signal: EPERM is a process too, of somebody else.
    let gone = |pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH);
    label(WORLD) == Some(world().as_str()) && owner.is_some_and(gone)
}
