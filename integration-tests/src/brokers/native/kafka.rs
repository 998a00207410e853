//! Kafka as a process: one node that is broker and controller.

use std::ffi::OsString;

use super::plan::{Place, Plan};
use crate::brokers::{BrokerError, install};

/// Formats where there are no data, then becomes the server.
const SCRIPT: &str = include_str!("kafka.sh");
/// Quick to start and small; the log goes to the standard error output.
const JAVA: [&str; 5] = [
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
];

/// What every node of a test has. The session of 2 s lets a killed broker come back in 4 s instead of 13: the controller refuses it while
/// the old session lives (measured, Kafka 4.4.0). Internal topics have one replica and few partitions, consumer groups start at once.
pub(in crate::brokers) const SETTINGS: &str = "\
process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=2
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
num.network.threads=2
num.io.threads=2
log.cleaner.dedupe.buffer.size=2097152
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
group.min.session.timeout.ms=1000
group.consumer.min.session.timeout.ms=3000
group.consumer.session.timeout.ms=6000
group.consumer.min.heartbeat.interval.ms=500
group.consumer.heartbeat.interval.ms=500
";

pub(super) fn plan(place: &Place<'_>) -> Result<Plan, BrokerError> {
    let installed = install::kafka()?;
    let mut command: Vec<OsString> = ["sh", "-c", SCRIPT, "queue-test-kafka"].map(OsString::from).into();
    command.extend([place.folder.clone().into(), installed.java.into(), installed.libraries.into()]);
    command.extend(JAVA.map(OsString::from));
    let mut settings = SETTINGS.to_owned();
    let ([controller, _], port) = (place.more, place.port);
    settings.push_str(&format!(
        "controller.quorum.voters=1@127.0.0.1:{controller}\n\
         listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}\n\
         advertised.listeners=PLAINTEXT://{}\nlog.dirs={}\n",
        place.options.advertised.clone().unwrap_or_else(|| format!("127.0.0.1:{port}")),
        place.data.display(),
    ));
    for line in &place.options.lines {
        settings.push_str(line);
        settings.push('\n');
    }
    Ok(Plan { command, variables: Vec::new(), clean: false, files: vec![("server.properties", settings)] })
}
