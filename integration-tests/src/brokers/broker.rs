//! A broker that is there.

use std::fmt;

use super::container::Container;
use super::native::Native;
use super::probe::Address;
use super::{Road, Server};

/// A broker that answers, and how it was come by.
pub struct Broker {
    server: Server,
    url: String,
    address: Address,
    road: Road,
    version: String,
    /// Ends what was started for it.
    _hold: Hold,
}

/// What was started for a broker.
#[derive(Debug)]
pub(super) enum Hold {
    Nothing,
    Container(#[expect(dead_code, reason = "held for its drop")] Box<Container>),
    Native(Box<Native>),
}

impl Broker {
    pub(super) fn new(server: Server, url: String, address: Address, road: Road, version: String, hold: Hold) -> Self {
        Self { server, url, address, road, version, _hold: hold }
    }

    /// Which server it was asked for as. One whose URL was given can be another of its kind.
    #[must_use]
    pub const fn server(&self) -> Server {
        self.server
    }

    /// Its URL, with the password if there is one: `redis://`, `amqp://` or `kafka://`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// `HOST:PORT`, or several with commas where Kafka was given so: what librdkafka calls `bootstrap.servers`.
    #[must_use]
    pub fn address(&self) -> &str {
        self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest.trim_end_matches('/'))
    }

    /// How it was come by.
    #[must_use]
    pub const fn road(&self) -> Road {
        self.road
    }

    /// The version that it says of itself, `unknown` where it says none. Kafka says major and minor number only.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Major and minor number of the version, zeros where it says none.
    #[must_use]
    pub fn release(&self) -> (u32, u32) {
        let mut numbers = self.version.split('.').map(|number| number.parse().unwrap_or(0));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    }

    /// The process that was started for it.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        match &self._hold {
            Hold::Native(native) => native.pid(),
            Hold::Nothing | Hold::Container(_) => None,
        }
    }
}

impl fmt::Debug for Broker {
    /// As `Display`: a URL can hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: version {} at {}, road: {}", self.server, self.version, self.address, self.road)
    }
}
