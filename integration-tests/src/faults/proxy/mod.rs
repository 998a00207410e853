//! A TCP proxy in front of a broker that breaks what it carries.
//!
//! Every setting applies to open and to new connections at once. The port stays the same for the life of the proxy, also while
//! connections are refused and when the broker moves: what a broker tells its clients as its own address can be the proxy's.
//!
//! A connection has two lines, one a direction. Each keeps the order, loses nothing, passes a half-close on as one and a reset as a reset,
//! and holds at most [`HELD_BYTES`] at a time: then it stops to read, and its sender feels it.

mod budget;
mod connection;
mod door;
mod error;
mod line;
mod registry;
mod settings;
mod shared;
mod unsent;

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::timeout;

use self::door::Door;
pub use self::error::ProxyError;
pub use self::line::HELD_BYTES;
pub use self::settings::Direction;
use self::settings::{Ending, Latency, Pace};
use self::shared::Shared;

/// The longest that ending connections or tasks is waited for.
const DEADLINE: Duration = Duration::from_secs(10);

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// In order: a FIN to both sides, as from a process that closes its sockets.
    Fin,
    /// With a RST to both sides, as from a machine that knows of no connection.
    Reset,
}

/// A listening port whose connections go on to a broker, and can be broken.
///
/// Needs a tokio runtime with IO and time; its tasks end when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    door: Mutex<Door>,
    shared: Arc<Shared>,
}

impl Proxy {
    /// Listens on a free port of the loopback and sends connections on to `upstream`.
    ///
    /// The broker need not run yet: it is called anew for each connection. While it cannot be reached within 5 seconds, a new connection
    /// is reset.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Listen`] when there is no port.
    pub async fn start(upstream: SocketAddr) -> Result<Self, ProxyError> {
        Self::start_seeded(upstream, 0).await
    }

    /// As [`start`](Self::start), with a seed of its own for the jitter.
    ///
    /// The n-th chunk of the m-th connection draws the same jitter in each run with one seed.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Listen`] when there is no port.
    #[expect(
        clippy::unused_async,
        reason = "tells that a runtime is needed, and leaves room for a listener that waits"
    )]
    pub async fn start_seeded(upstream: SocketAddr, seed: u64) -> Result<Self, ProxyError> {
        let shared = Arc::new(Shared::new(upstream, seed));
        let mut door = Door::reserve()?;
        door.open(&shared)?;
        Ok(Self { address: door.address(), door: Mutex::new(door), shared })
    }

    /// The address to connect to.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where new connections go on to; open ones stay with the old broker.
    pub fn set_upstream(&self, upstream: SocketAddr) {
        *self.shared.upstream.lock() = upstream;
    }

    /// Refuses new connections until [`pass`](Self::pass); open ones go on.
    ///
    /// A client that has connected but whom the proxy has not accepted yet is reset.
    pub async fn refuse(&self) {
        self.door.lock().await.close().await;
    }

    /// Takes new connections again, on the same port.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Listen`] when another program has taken the port, which Linux prevents.
    pub async fn pass(&self) -> Result<(), ProxyError> {
        self.door.lock().await.open(&self.shared)
    }

    /// Closes all open connections in order, with a FIN to both sides. What was held is lost.
    ///
    /// Returns when the FINs are sent. As with a process that ends, what a side still sends may be answered with a RST.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Unfinished`] after 10 seconds.
    pub async fn cut(&self) -> Result<(), ProxyError> {
        self.end_all(Ending::Fin).await
    }

    /// Resets all open connections, with a RST to both sides. What was held is lost.
    ///
    /// Returns when the RSTs are sent.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Unfinished`] after 10 seconds.
    pub async fn reset(&self) -> Result<(), ProxyError> {
        self.end_all(Ending::Reset { flush: false }).await
    }

    async fn end_all(&self, ending: Ending) -> Result<(), ProxyError> {
        let ended = self.shared.registry.end_all(ending);
        let all = async {
            for connection in ended {
                connection.closed().await;
            }
        };
        timeout(DEADLINE, all).await.map_err(|_| self.unfinished())
    }

    /// Passes nothing more in a direction until [`thaw`](Self::thaw).
    ///
    /// Connections stay open and new ones are accepted, as by a broker whose machine hangs. When this returns, not a byte more passes.
    pub fn freeze(&self, direction: Direction) {
        self.shared.change(|settings| direction.each(|line| settings.frozen[line] = true));
    }

    /// Ends [`freeze`](Self::freeze): what was held passes, in order.
    pub fn thaw(&self) {
        self.shared.change(|settings| settings.frozen = [false; 2]);
    }

    /// Delays each chunk, in both directions, by `base` and up to `jitter` more.
    ///
    /// A chunk is what one read brought, and never overtakes another, so a round trip takes twice that. Chunks that are held already
    /// count from their arrival. Two zeros take it back.
    pub fn latency(&self, base: Duration, jitter: Duration) {
        self.shared.change(|settings| settings.latency = Latency { base, jitter });
    }

    /// Lets at most so many bytes a second pass in each direction, all connections together; `None` takes it back.
    ///
    /// A piece passes when its last byte would have.
    pub fn bandwidth(&self, bytes_per_second: Option<NonZeroU64>) {
        let pace = bytes_per_second.map(|rate| Arc::new(Pace::new(rate)));
        self.shared.change(|settings| settings.pace = pace);
    }

    /// Lets exactly `bytes` more bytes pass in that direction, all connections together, then ends all open connections, once.
    ///
    /// With [`Direction::Both`] the bytes of both directions count together. These bytes reach their side before its end does, provided
    /// it reads them within 5 seconds. Connections that come afterwards are whole. A second call replaces the first.
    pub fn cut_after(&self, bytes: u64, direction: Direction, cut: Cut) {
        let ending = match cut {
            Cut::Fin => Ending::Fin,
            Cut::Reset => Ending::Reset { flush: true },
        };
        if self.shared.budget.set(bytes, direction, ending) {
            self.shared.spent(ending);
        }
        self.shared.change(|_| ());
    }

    /// Takes back everything: thaws, no latency, no bandwidth, no cut to come, and new connections are taken.
    ///
    /// Upstream and counters stay.
    ///
    /// # Errors
    ///
    /// As [`pass`](Self::pass).
    pub async fn clear(&self) -> Result<(), ProxyError> {
        self.shared.budget.clear();
        self.shared.change(|settings| *settings = settings::Settings::default());
        self.pass().await
    }

    /// How many connections are open now.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.registry.open()
    }

    /// How many connections were accepted so far.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.shared.registry.accepted()
    }

    /// How many bytes were passed on so far in that direction.
    #[must_use]
    pub fn bytes(&self, direction: Direction) -> u64 {
        self.shared.passed(direction)
    }

    /// Closes everything, as dropping does, and waits until every task has ended.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Unfinished`] after 10 seconds.
    pub async fn close(self) -> Result<(), ProxyError> {
        self.shared.closing.cancel();
        timeout(DEADLINE, self.shared.tasks.wait()).await.map_err(|_| self.unfinished())
    }

    fn unfinished(&self) -> ProxyError {
        ProxyError::Unfinished { address: self.address, open: self.connections(), after: DEADLINE }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.closing.cancel();
    }
}
