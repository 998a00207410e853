//! The three brokers at once.

use std::thread;

use integration_tests::brokers::{Broker, BrokerError, Kind, Road, Server, Settings, acquire, install, say};

/// Installs what a native road to the three needs and is not there. A failure is said, and decides nothing: another road may be open.
pub(super) fn install_missing(settings: &Settings) {
    if let Err(error) = install::install_tools() {
        say(&error.chain());
    }
    for kind in Kind::ALL {
        let server = Server::from(kind);
        let needs_none = settings.skips(server) || settings.given(kind).is_some();
        if needs_none || settings.forced() == Some(Road::Container) {
            continue;
        }
        if let Err(error) = install::install(server) {
            say(&error.chain());
        }
    }
}

/// What was come by, in the order of [`Kind::ALL`]; each kind that is not left out.
pub(super) fn all(settings: &Settings) -> Vec<(Kind, Result<Broker, BrokerError>)> {
    let wanted = Kind::ALL.into_iter().filter(|kind| !settings.skips((*kind).into()));
    thread::scope(|scope| {
        let started: Vec<_> = wanted.map(|kind| (kind, scope.spawn(move || acquire(kind.into(), settings)))).collect();
        let join = |started: thread::ScopedJoinHandle<'_, _>| match started.join() {
            Ok(broker) => broker,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        started.into_iter().map(|(kind, started)| (kind, join(started))).collect()
    })
}
