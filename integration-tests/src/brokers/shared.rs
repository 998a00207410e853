//! One broker for all tests of a process.

use std::sync::OnceLock;
use std::time::Duration;

use super::broker::Hold;
use super::container::Container;
use super::native::Native;
use super::probe::{self, Address};
use super::{Broker, BrokerError, Deadline, Options, Road, Server, Settings, say};

/// The longest that a broker may take to answer whose URL was given: it is there already, or nearly.
const GIVEN: Duration = Duration::from_secs(10);

/// The broker of this process for a kind, or for a server by name: started at the first call, the same at each later one.
///
/// It is the one whose URL is in the environment, else a container, else a native process; the run says which. Others use it too: take
/// names from [`unique`](super::unique), and a [`private`](super::private) one to break something. It lives as long as the process.
///
/// # Errors
///
/// [`BrokerError`] says what to do. It is the same at each call.
///
/// # Cancel safety
///
/// The start goes on when the future is dropped, and serves the next call.
pub async fn shared(of: impl Into<Server>) -> Result<&'static Broker, &'static BrokerError> {
    let server = of.into();
    match tokio::task::spawn_blocking(move || once(server)).await {
        Ok(broker) => broker,
        // The start panicked, or its runtime ended: as it would here.
        Err(_) => once(server),
    }
}

fn once(server: Server) -> Result<&'static Broker, &'static BrokerError> {
    type Once = OnceLock<Result<Broker, BrokerError>>;
    static SHARED: [Once; Server::ALL.len()] = [const { OnceLock::new() }; Server::ALL.len()];
    let acquired = || {
        let broker = Settings::of_environment().and_then(|settings| acquire(server, &settings));
        match &broker {
            Ok(broker) => say(&broker.to_string()),
            Err(error) => say(&format!("{server}: {}", error.chain())),
        }
        broker
    };
    // The order of the variants is that of ALL.
    SHARED[server as usize].get_or_init(acquired).as_ref()
}

/// A broker by the first road that is open: given, container, native. It lives as long as the answer. Blocks, for a minute or two at most.
///
/// # Errors
///
/// [`BrokerError`] says what to do. A URL that was given and does not answer is one, and so is a forced road that is closed: no other road
/// is taken then.
pub fn acquire(server: Server, settings: &Settings) -> Result<Broker, BrokerError> {
    if settings.skips(server) {
        return Err(BrokerError::Skipped(server));
    }
    if let Some(url) = settings.given(server.kind()).filter(|_| server.is_default()) {
        return given(server, url);
    }
    match settings.forced() {
        Some(road) => {
            let forced = if road == Road::Container { container(server) } else { native(server) };
            forced.map_err(|source| BrokerError::Forced { server, road, source: Box::new(source) })
        }
        None => container(server).or_else(|closed| {
            native(server).map_err(|error| {
                if !matches!(error, BrokerError::NotInstalled { .. }) {
                    return error;
                }
                let tried = format!("container: {}; native: {}", closed.chain(), error.chain()).into();
                BrokerError::NoRoad { server, tried }
            })
        }),
    }
}

fn given(server: Server, url: &str) -> Result<Broker, BrokerError> {
    let kind = server.kind();
    let takes = "a URL as redis://HOST:PORT, amqp://USER:PASSWORD@HOST:PORT or kafka://HOST:PORT, without TLS";
    let wrong = || BrokerError::Setting { variable: kind.variable(), value: "a URL of another form".into(), takes };
    let address = Address::of(kind, url).ok_or_else(wrong)?;
    let mut last = None;
    let deadline = Deadline::after(GIVEN);
    let version = deadline.until(|| probe::ask(kind, &address, deadline).map_err(|error| last = Some(error)).ok());
    let Some(version) = version else {
        let why = last.map_or_else(String::new, |error| error.to_string()).into();
        return Err(BrokerError::Given { kind, address: address.to_string().into(), why });
    };
    Ok(Broker::new(server, url.to_owned(), address, Road::Given, version, Hold::Nothing))
}

fn container(server: Server) -> Result<Broker, BrokerError> {
    let container = Container::start(server)?;
    let (url, address, version) = (container.url(), Address::local(container.port()), container.version().to_owned());
    Ok(Broker::new(server, url, address, Road::Container, version, Hold::Container(Box::new(container))))
}

fn native(server: Server) -> Result<Broker, BrokerError> {
    let native = Native::start(server, &Options::default())?;
    let (url, address, version) = (native.url(), Address::local(native.port()), native.version().to_owned());
    Ok(Broker::new(server, url, address, Road::Native, version, Hold::Native(Box::new(native))))
}
