//! Where a broker listens, out of its URL.

use std::fmt;

use crate::brokers::Kind;

/// Host, port and credentials of a URL. Written out, it shows host and port only.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    host: String,
    port: u16,
    user: Option<String>,
    password: Option<String>,
}

impl Address {
    /// Of a port on this machine.
    #[must_use]
    pub fn local(port: u16) -> Self {
        Self { host: "127.0.0.1".to_owned(), port, user: None, password: None }
    }

    /// Of `[SCHEME://][[USER]:PASSWORD@]HOST[:PORT][/...]`, the first one of a list with commas; `None` when it is no such thing, or of
    /// another scheme: a probe speaks no TLS.
    #[must_use]
    pub fn of(kind: Kind, url: &str) -> Option<Self> {
        let rest = match url.split_once("://") {
            Some((scheme, rest)) => (scheme == kind.scheme()).then_some(rest)?,
            None => url,
        };
        let authority = rest.split(['/', '?', ',']).next()?;
        let (credentials, place) = authority.rsplit_once('@').unzip();
        let place = place.unwrap_or(authority);
        let (user, password) = credentials.map_or((None, None), |both| match both.split_once(':') {
            Some((user, password)) => (Some(user), Some(password)),
            None => (Some(both), None),
        });
        let (host, port) = match place.rsplit_once(':') {
            // The colons of an IPv6 address stand in brackets.
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
            _ => (place, kind.default_port()),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let owned = |part: Option<&str>| part.filter(|part| !part.is_empty()).map(str::to_owned);
        let address = Self { host: host.to_owned(), port, user: owned(user), password: owned(password) };
        (!host.is_empty()).then_some(address)
    }

    /// The host's name or address.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn credentials(&self) -> (Option<&str>, Option<&str>) {
        (self.user.as_deref(), self.password.as_deref())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::Address;
    use crate::brokers::Kind;

    #[test]
    fn each_form_of_a_url_gives_host_and_port() {
        let shown = |kind, url| Address::of(kind, url).map(|address| address.to_string());
        assert_eq!(shown(Kind::Redis, "redis://one:7000/3").as_deref(), Some("one:7000"));
        assert_eq!(shown(Kind::Redis, "redis://one").as_deref(), Some("one:6379"));
        assert_eq!(shown(Kind::Amqp, "amqp://a:b@one/%2f").as_deref(), Some("one:5672"));
        assert_eq!(shown(Kind::Kafka, "one:9000,two:9001").as_deref(), Some("one:9000"));
        assert_eq!(shown(Kind::Redis, "redis://[::1]:7000").as_deref(), Some("::1:7000"));
        assert_eq!(shown(Kind::Redis, "redis://[::1]").as_deref(), Some("::1:6379"));
        for wrong in ["rediss://one", "redis://one:port", "redis://", ""] {
            assert_eq!(shown(Kind::Redis, wrong), None, "{wrong}");
        }
    }

    #[test]
    fn credentials_are_kept_and_not_shown() {
        let address = Address::of(Kind::Redis, "redis://:s3cret@one").unwrap();
        assert_eq!(address.credentials(), (None, Some("s3cret")));
        assert!(!format!("{address}{address:?}").contains("s3cret"));
    }
}
