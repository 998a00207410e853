//! The listening port.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::connection;
use super::error::ProxyError;
use super::shared::Shared;

/// How many clients the system connects before the proxy accepts them.
const BACKLOG: u32 = 1024;

/// A port, and the task that accepts its connections while it is open.
#[derive(Debug)]
pub(super) struct Door {
    address: SocketAddr,
    /// Bound, never listening: without it a port that refuses could become the local port of anybody's connection, even of one to
    /// itself. Only where two sockets may have one port, as on Linux.
    _reserved: Option<TcpSocket>,
    /// Bound, not yet listening: the port before it is opened for the first time.
    bound: Option<TcpSocket>,
    accepting: Option<JoinHandle<()>>,
}

impl Door {
    /// Takes a free port of the loopback.
    pub(super) fn reserve() -> Result<Self, ProxyError> {
        let (socket, address) = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let reserved = bind(address).ok().map(|(socket, _)| socket);
        Ok(Self { address, _reserved: reserved, bound: Some(socket), accepting: None })
    }

    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts connections. Does nothing if it does so already.
    pub(super) fn open(&mut self, shared: &Arc<Shared>) -> Result<(), ProxyError> {
        if self.accepting.is_some() {
            return Ok(());
        }
        let socket = self.bound.take().map_or_else(|| bind(self.address).map(|(socket, _)| socket), Ok)?;
        let listener = socket.listen(BACKLOG).map_err(|source| ProxyError::Listen { address: self.address, source })?;
        self.accepting = Some(shared.tasks.spawn(accept(listener, Arc::clone(shared))));
        Ok(())
    }

    /// Closes the listener; when this returns, new connections are refused.
    pub(super) async fn close(&mut self) {
        if let Some(task) = &mut self.accepting {
            task.abort();
            // It ends at its only await, and an aborted task is what was asked for.
            drop(task.await);
            self.accepting = None;
        }
    }
}

fn bind(address: SocketAddr) -> Result<(TcpSocket, SocketAddr), ProxyError> {
    let bound = || {
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let address = socket.local_addr()?;
        Ok((socket, address))
    };
    bound().map_err(|source| ProxyError::Listen { address, source })
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let accepting = async {
        loop {
            match listener.accept().await {
                Ok((client, _)) => {
                    let entry = shared.registry.enter();
                    shared.tasks.spawn(connection::serve(client, entry, Arc::clone(&shared)));
                }
                // Out of file descriptors, or a client that has gone again: neither is better at once.
                Err(_) => sleep(Duration::from_millis(10)).await,
            }
        }
    };
    tokio::select! {
        () = shared.closing.cancelled() => {}
        () = accepting => {}
    }
}
