//! What the environment says.

use std::env;
use std::fmt;

use super::{BrokerError, Kind, Server};

/// The variable that leaves servers out: names of kinds or servers, with commas between.
pub const SKIP: &str = "QUEUE_TEST_SKIP";
/// The variable that leaves one road only to the brokers that are started.
pub(super) const ROAD: &str = "QUEUE_TEST_ROAD";

/// How a broker was come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Road {
    /// Its URL was in the environment.
    Given,
    /// A container was started.
    Container,
    /// A server process was started.
    Native,
}

impl fmt::Display for Road {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given => "given",
            Self::Container => "container",
            Self::Native => "native",
        })
    }
}

/// What the environment says of brokers.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    given: Vec<(Kind, String)>,
    forced: Option<Road>,
    skipped: Vec<Server>,
}

impl Settings {
    /// Those of this process.
    ///
    /// # Errors
    ///
    /// [`BrokerError::Setting`] when a variable has a value that means nothing: none is ignored.
    pub fn of_environment() -> Result<Self, BrokerError> {
        Self::read(|name| env::var(name).ok())
    }

    /// As `variable` gives them. An empty value is as none.
    pub(super) fn read(variable: impl Fn(&'static str) -> Option<String>) -> Result<Self, BrokerError> {
        let value = |name| variable(name).filter(|value| !value.trim().is_empty());
        let given = Kind::ALL.into_iter().filter_map(|kind| Some((kind, value(kind.variable())?))).collect();
        let forced = match value(ROAD).as_deref() {
            None => None,
            Some("container") => Some(Road::Container),
            Some("native") => Some(Road::Native),
            Some(other) => return Err(setting(ROAD, other, "`container` or `native`")),
        };
        let mut skipped = Vec::new();
        for name in value(SKIP).unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let servers = Self::servers(name);
            if servers.is_empty() {
                return Err(setting(
                    SKIP,
                    name,
                    "redis, amqp, kafka, redis8, valkey, rabbitmq and rabbitmq4, with commas",
                ));
            }
            skipped.extend(servers);
        }
        Ok(Self { given, forced, skipped })
    }

    /// The name of a kind means each server of it.
    fn servers(name: &str) -> Vec<Server> {
        let named = |server: &Server| server.name() == name || server.kind().name() == name;
        Server::ALL.into_iter().filter(named).collect()
    }

    /// The URL that was given for a kind.
    #[must_use]
    pub fn given(&self, kind: Kind) -> Option<&str> {
        self.given.iter().find(|(of, _)| *of == kind).map(|(_, url)| url.as_str())
    }

    /// The only road that is left.
    #[must_use]
    pub const fn forced(&self) -> Option<Road> {
        self.forced
    }

    /// Whether the server is left out.
    #[must_use]
    pub fn skips(&self, server: Server) -> bool {
        self.skipped.contains(&server)
    }
}

fn setting(variable: &'static str, value: &str, takes: &'static str) -> BrokerError {
    BrokerError::Setting { variable, value: value.into(), takes }
}

#[cfg(test)]
mod tests {
    use super::{Road, Settings};
    use crate::brokers::{BrokerError, Kind, Server};

    fn of(pairs: &[(&str, &str)]) -> Result<Settings, BrokerError> {
        let find = |name| pairs.iter().find(|(of, _)| *of == name).map(|(_, value)| (*value).to_owned());
        Settings::read(find)
    }

    #[test]
    fn an_empty_variable_is_as_none() {
        let settings = of(&[("QUEUE_TEST_REDIS_URL", ""), ("QUEUE_TEST_ROAD", " "), ("QUEUE_TEST_SKIP", ",")]).unwrap();
        assert_eq!((settings.given(Kind::Redis), settings.forced()), (None, None));
        assert!(!Server::ALL.into_iter().any(|server| settings.skips(server)));
    }

    #[test]
    fn a_kind_leaves_out_each_server_of_it_and_a_server_itself() {
        let settings = of(&[("QUEUE_TEST_SKIP", "amqp, redis8")]).unwrap();
        let skipped: Vec<_> = Server::ALL.into_iter().filter(|server| settings.skips(*server)).collect();
        assert_eq!(skipped, [Server::RabbitMq, Server::Redis8, Server::RabbitMq4]);
    }

    #[test]
    fn a_value_that_means_nothing_is_refused_by_name() {
        let road = of(&[("QUEUE_TEST_ROAD", "docker")]).unwrap_err().to_string();
        assert_eq!(road, "QUEUE_TEST_ROAD is `docker`, but takes `container` or `native`");
        let skip = of(&[("QUEUE_TEST_SKIP", "redis,nats")]).unwrap_err().to_string();
        assert!(skip.starts_with("QUEUE_TEST_SKIP is `nats`"), "{skip}");
        assert_eq!(of(&[("QUEUE_TEST_ROAD", "native")]).unwrap().forced(), Some(Road::Native));
    }
}
