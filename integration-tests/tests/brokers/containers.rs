//! Nothing is left of a container whose test process is killed. `.ci/with-engine` brings the engine; `cargo xtask brokers images` the image.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use integration_tests::brokers::container::sweep;
use integration_tests::brokers::{Deadline, Kind, Road, shared};

/// Says to the child that it is one.
const CHILD: &str = "QUEUE_TEST_CHILD";
/// The longest until a container is gone.
const DEADLINE: Duration = Duration::from_secs(20);

/// Starts a process that starts a container, and waits until it has.
fn start() -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "containers::child", "--ignored", "--nocapture"]);
    child.env(CHILD, "yes").env("QUEUE_TEST_ROAD", "container").env_remove("QUEUE_TEST_REDIS_URL");
    let mut child = child.stdout(Stdio::piped()).spawn().unwrap();
    // Ends with the child, which a deadline of its own ends.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("STARTED")), "the child has no container");
    child
}

/// The names of the containers of a process.
fn containers(of: u32) -> Vec<String> {
    let filter = format!("label=queue-test.owner={of}");
    let output = Command::new("docker").args(["ps", "--all", "--format", "{{.Names}}", "--filter", &filter]).output();
    String::from_utf8(output.unwrap().stdout).unwrap().lines().map(str::to_owned).collect()
}

/// The processes whose command line holds `word`.
fn processes(word: &str) -> Vec<String> {
    let pids = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let line = |pid: &String| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let holds = |pid: &String| String::from_utf8_lossy(&line(pid)).contains(word);
    pids.filter(|pid| pid.bytes().all(|byte| byte.is_ascii_digit()) && holds(pid)).collect()
}

fn killed(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
#[ignore = "needs a Docker engine: .ci/with-engine"]
fn the_container_of_a_killed_process_is_removed() {
    let child = start();
    let pid = child.id();
    assert_eq!(containers(pid).len(), 1);
    killed(child);
    let gone = Deadline::after(DEADLINE).until(|| containers(pid).is_empty().then_some(()));
    assert!(gone.is_some(), "left: {:?}", containers(pid));
}

#[test]
#[ignore = "needs a Docker engine: .ci/with-engine"]
fn a_container_whose_watcher_was_killed_too_is_swept() {
    let child = start();
    let pid = child.id();
    let [name] = <[String; 1]>::try_from(containers(pid)).unwrap();
    let watchers: Vec<_> =
        processes(&name).into_iter().filter(|pid| processes("queue-test-watcher").contains(pid)).collect();
    assert_eq!(watchers.len(), 1);
    let line = fs::read_to_string(format!("/proc/{}/cmdline", watchers[0])).unwrap();
    let folder = line.split('\0').find(|word| word.starts_with(std::env::temp_dir().to_str().unwrap())).unwrap();
    assert!(Command::new("kill").arg("-KILL").args(&watchers).status().unwrap().success());
    sweep();
    assert_eq!(containers(pid), [name], "its process lives");
    killed(child);
    sweep();
    assert_eq!(containers(pid), [""; 0]);
    // What the watcher would have done.
    fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
#[ignore = "the process that the tests beside it start"]
#[expect(clippy::print_stdout, reason = "the parent reads it")]
async fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let broker = shared(Kind::Redis).await.unwrap();
    assert_eq!(broker.road(), Road::Container);
    println!("STARTED");
    tokio::time::sleep(Duration::from_secs(60)).await;
}
