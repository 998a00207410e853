//! What goes wrong names itself and the way out, in bounded time.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::time::Duration;

use integration_tests::brokers::{
    BrokerError, Deadline, Kind, Options, Private, Server, need, private, shared, unique,
};

async fn refused(server: Server, options: Options) -> Option<String> {
    match private(server, options).await.map(drop as fn(Private)) {
        Err(BrokerError::Skipped(_)) => None,
        started => Some(started.unwrap_err().chain()),
    }
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut options = Options::default();
    options.port = Some(port);
    for server in [Server::Redis, Server::RabbitMq, Server::Kafka] {
        let Some(error) = refused(server, options.clone()).await else { continue };
        assert!(error.contains(&format!("port {port}")) && error.contains("ask for another"), "{error}");
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_named() {
    let mut options = Options::default();
    // Not even root makes folders there.
    options.folder = Some("/proc/queue-test".into());
    let Some(error) = refused(Server::Redis, options).await else { return };
    assert!(error.contains("`/proc/queue-test/") && error.contains("give a folder"), "{error}");
}

#[tokio::test]
async fn a_server_that_ends_at_once_says_its_last_words() {
    let mut options = Options::default();
    options.lines = vec!["no-such-setting yes".to_owned()];
    let Some(error) = refused(Server::Redis, options).await else { return };
    assert!(error.contains("redis ended before it answered") && error.contains("no-such-setting"), "{error}");
}

/// Runs one ignored test of this program in a process with another environment, and gives what it wrote.
fn elsewhere(test: &str, variables: &[(&str, &str)]) -> (bool, String, Duration) {
    let begun = Deadline::after(Duration::from_secs(60));
    let mut child = Command::new(std::env::current_exe().unwrap());
    for name in
        ["QUEUE_TEST_REDIS_URL", "QUEUE_TEST_AMQP_URL", "QUEUE_TEST_KAFKA", "QUEUE_TEST_ROAD", "QUEUE_TEST_SKIP"]
    {
        child.env_remove(name);
    }
    let temporary = std::env::temp_dir().join(unique("elsewhere"));
    std::fs::create_dir(&temporary).unwrap();
    child.args(["--exact", test, "--ignored", "--nocapture"]).envs(variables.iter().copied());
    let output = child.env("TMPDIR", &temporary).output().unwrap();
    // A shared broker outlives its process by some milliseconds.
    let removed = begun.until(|| std::fs::remove_dir(&temporary).ok());
    assert!(removed.is_some(), "something is left in {}", temporary.display());
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.success(), said, begun.elapsed())
}

#[tokio::test]
#[ignore = "run by the tests beside it, each in an environment of its own"]
async fn takes_each_kind() {
    let mut taken = true;
    for kind in Kind::ALL {
        taken &= shared(kind).await.is_ok();
    }
    assert!(taken);
}

/// A machine without a broker, an engine, Java and rights to install any.
#[test]
fn a_machine_with_nothing_is_told_what_to_install_or_set() {
    let nothing = [("PATH", "/nowhere"), ("JAVA_HOME", ""), ("DOCKER_HOST", "unix:///nowhere/docker.sock")];
    let (passed, said, took) = elsewhere("errors::takes_each_kind", &nothing);
    assert!(!passed && took < Duration::from_secs(10), "{took:?}");
    for part in [
        "no road leads to redis: container: no Docker engine at unix:///nowhere/docker.sock",
        "redis needs the program redis-server, which is not on this machine",
        "kafka needs the program java of a JDK 17 or later, which is not on this machine",
        "rabbitmq needs",
        "apt-get install redis-server",
        "apt-get install rabbitmq-server",
        "apt-get install openjdk-17-jre-headless maven",
        "QUEUE_TEST_REDIS_URL",
        "QUEUE_TEST_AMQP_URL",
        "QUEUE_TEST_KAFKA",
    ] {
        assert!(said.contains(part), "`{part}` is not in:\n{said}");
    }
}

/// Neither root nor a Debian, as far as `PATH` shows: nothing is installed, and each package is named.
#[test]
fn where_nothing_may_be_installed_the_packages_are_named() {
    let mut install = Command::new(env!("CARGO_BIN_EXE_brokers"));
    let cache = std::env::temp_dir().join(unique("cache"));
    install.arg("install").env("PATH", "/nowhere").env("JAVA_HOME", "").env("QUEUE_TEST_CACHE", &cache);
    let output = install.env_remove("QUEUE_TEST_SKIP").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success());
    for part in [
        "the package redis-server, and",
        "the package rabbitmq-server, and",
        "the package openjdk-17-jre-headless, and",
    ] {
        assert!(said.contains(part), "`{part}` is not in:\n{said}");
    }
    assert!(said.contains("`cargo xtask brokers install` as root") && !cache.exists(), "{said}");
}

/// The engine's two seconds are spent once, not once a kind, and the native road is taken after them.
#[test]
fn an_engine_that_hangs_closes_its_road_and_no_other() {
    let path = std::env::temp_dir().join(unique("hanging-engine"));
    let listener = UnixListener::bind(&path).unwrap();
    let host = format!("unix://{}", path.display());
    let (_, said, took) = elsewhere("errors::takes_each_kind", &[("DOCKER_HOST", &host), ("PATH", "/nowhere")]);
    assert!(said.contains(&format!("no Docker engine at {host}: it has not answered within 2s")), "{said}");
    assert!((2..6).contains(&took.as_secs()), "{took:?}");
    let forced = [("DOCKER_HOST", host.as_str()), ("QUEUE_TEST_ROAD", "container")];
    let (passed, said, _) = elsewhere("errors::takes_each_kind", &forced);
    assert!(!passed && said.contains("QUEUE_TEST_ROAD=container leaves one road to redis, and it is closed"), "{said}");
    assert!(!said.contains("road: native"), "{said}");
    drop(listener);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_broker_that_was_given_and_is_silent_is_named_without_its_password() {
    let url = [("QUEUE_TEST_REDIS_URL", "redis://user:s3cret@127.0.0.1:1"), ("QUEUE_TEST_SKIP", "amqp,kafka")];
    let (passed, said, took) = elsewhere("errors::takes_each_kind", &url);
    assert!(!passed && took < Duration::from_secs(20), "{took:?}");
    let part = "the redis at 127.0.0.1:1, given by QUEUE_TEST_REDIS_URL, does not answer";
    assert!(said.contains(part) && !said.contains("s3cret"), "{said}");
}

#[test]
fn what_is_left_out_is_said_out_loud() {
    let (passed, said, _) = elsewhere("errors::needs_redis", &[("QUEUE_TEST_SKIP", "redis")]);
    assert!(passed && said.contains("SKIPPED: a test of redis, left out by QUEUE_TEST_SKIP"), "{said}");
    let (passed, said, _) = elsewhere("errors::needs_redis", &[("QUEUE_TEST_SKIP", "reddis")]);
    assert!(!passed && said.contains("QUEUE_TEST_SKIP is `reddis`"), "{said}");
}

#[tokio::test]
#[ignore = "run by the test beside it, in an environment of its own"]
async fn needs_redis() {
    assert!(need(Kind::Redis).await.is_none());
}
