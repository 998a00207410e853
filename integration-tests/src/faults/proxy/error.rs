//! What can go wrong with the proxy itself.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// The proxy could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// The port cannot be listened on.
    #[error("the fault proxy cannot listen on {address}; end the program that has the port, or start another proxy")]
    Listen {
        /// Where to.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// Connections or tasks were told to end and have not.
    #[error(
        "{open} connections of the fault proxy on {address} have not ended after {after:?}; is the runtime blocked?"
    )]
    Unfinished {
        /// The proxy's.
        address: SocketAddr,
        /// How many connections are open.
        open: usize,
        /// The deadline.
        after: Duration,
    },
}
