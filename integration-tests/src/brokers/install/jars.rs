//! Kafka: jars from Maven's registry, of one release.

use std::fs;
use std::process::Command;
use std::time::Duration;

use super::look::{KAFKA, kafka_folder};
use super::{apt, command, folder};
use crate::brokers::{BrokerError, Server, locate, say};

/// 45 jars of 43 MB take 4 to 10 s where the network is good.
const DEADLINE: Duration = Duration::from_secs(300);

pub(super) fn install() -> Result<(), BrokerError> {
    if locate::java().is_none() {
        apt::install(Server::Kafka, &["openjdk-17-jre-headless"])?;
    }
    let place = kafka_folder();
    if place.exists() {
        return Ok(());
    }
    if locate::program("mvn").is_none() {
        apt::install(Server::Kafka, &["maven"])?;
    }
    say(&format!("downloading Kafka {KAFKA} to {}", place.display()));
    folder::filled(&place, |part| {
        let file = part.join("pom.xml");
        fs::write(&file, pom()).map_err(|source| BrokerError::Folder { path: file.clone(), source })?;
        let mut maven = Command::new("mvn");
        maven.args(["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=libs", "-DincludeScope=runtime"]);
        command::run(maven.current_dir(part), DEADLINE).map(drop)
    })
}

/// A project that needs Kafka's broker, and a log that goes to the outputs.
fn pom() -> String {
    let dependency = |group: &str, artifact: &str, version: &str| {
        format!(
            "<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>"
        )
    };
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion><groupId>local</groupId>\
         <artifactId>kafka</artifactId><version>1</version><packaging>pom</packaging><dependencies>{}{}</dependencies></project>\n",
        dependency("org.apache.kafka", "kafka_2.13", KAFKA),
        dependency("org.slf4j", "slf4j-simple", "1.7.36"),
    )
}
