//! One connection: a socket to either side, a line each way, and an end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::line::{Broken, Line};
use super::registry::Entry;
use super::settings::{Ending, TO_BROKER, TO_CLIENT};
use super::shared::Shared;
use super::unsent;

/// The longest that the broker is waited for.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a closed socket still takes what its side sends, so that its FIN does not become a RST.
const LINGER: Duration = Duration::from_secs(1);
/// The longest that a side is waited for to take its last bytes.
const FLUSH: Duration = Duration::from_secs(5);
/// What becomes of a connection that breaks by itself.
const RESET: Ending = Ending::Reset { flush: false };

/// Carries a connection until it ends by itself, is told to end, or the proxy goes.
pub(super) async fn serve(client: TcpStream, entry: Entry, shared: Arc<Shared>) {
    tokio::select! {
        biased;
        () = shared.closing.cancelled() => {}
        () = live(client, entry, &shared) => {}
    }
}

async fn live(mut client: TcpStream, entry: Entry, shared: &Shared) {
    // An order waits until the broker has answered: a socket that was dropped before could end in neither way.
    let Some(mut broker) = connect(shared).await else { return finish(vec![client], RESET, entry).await };
    let mut told = entry.told.clone();
    let ending = tokio::select! {
        biased;
        ending = order(&mut told) => Some(ending),
        ending = carry(&mut client, &mut broker, &entry, shared) => ending,
    };
    drop(told);
    if let Some(ending) = ending {
        finish(vec![client, broker], ending, entry).await;
    }
}

/// Connects to the broker, if it answers in time.
async fn connect(shared: &Shared) -> Option<TcpStream> {
    let upstream = *shared.upstream.lock();
    timeout(CONNECT, TcpStream::connect(upstream)).await.ok()?.ok()
}

/// Waits for the order to end.
async fn order(told: &mut watch::Receiver<Option<Ending>>) -> Ending {
    loop {
        if let Some(ending) = *told.borrow_and_update() {
            return ending;
        }
        if told.changed().await.is_err() {
            // Nobody is left to order anything.
            std::future::pending::<()>().await;
        }
    }
}

/// Carries both ways until both are closed, or something breaks: then with the ending to pass on.
async fn carry(client: &mut TcpStream, broker: &mut TcpStream, entry: &Entry, shared: &Shared) -> Option<Ending> {
    if client.set_nodelay(true).and_then(|()| broker.set_nodelay(true)).is_err() {
        return Some(RESET);
    }
    let (from_client, to_client) = client.split();
    let (from_broker, to_broker) = broker.split();
    let lines = tokio::try_join!(
        Line::new(TO_BROKER, entry, shared).carry(from_client, to_broker),
        Line::new(TO_CLIENT, entry, shared).carry(from_broker, to_client),
    );
    match lines {
        Ok((Ok(()), Ok(()))) => None,
        Ok(_) | Err(Broken) => Some(RESET),
    }
}

/// Ends both sides; the connection no longer counts as open as soon as both have been told.
async fn finish(mut sides: Vec<TcpStream>, ending: Ending, entry: Entry) {
    match ending {
        Ending::Reset { flush } => {
            if flush {
                // Who does not take the bytes in time is reset without them.
                drop(timeout(FLUSH, sent(&sides)).await);
            }
            for side in &sides {
                // Fails for no open TCP socket.
                drop(end_by_reset(side));
            }
            drop(sides);
            drop(entry);
        }
        Ending::Fin => {
            for side in &mut sides {
                // A side that has gone needs no FIN.
                drop(side.shutdown().await);
            }
            drop(entry);
            let drained = join_all(sides.iter_mut().map(drain));
            drop(timeout(LINGER, drained).await);
            // A close with something unread becomes a RST, which would throw away what is still to be sent.
            drop(timeout(FLUSH, sent(&sides)).await);
        }
    }
}

/// Has the drop of a socket send a RST, through SO_LINGER 0. tokio's own `set_linger` is deprecated.
fn end_by_reset(side: &TcpStream) -> io::Result<()> {
    Ok(rustix::net::sockopt::set_socket_linger(side, Some(Duration::ZERO))?)
}

/// Waits until each side has acknowledged all that was sent to it.
async fn sent(sides: &[TcpStream]) {
    for side in sides {
        while unsent::bytes(side) > 0 {
            sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Reads to the end and forgets it.
async fn drain(side: &mut TcpStream) -> io::Result<()> {
    let mut buffer = [0; 1024];
    while side.read(&mut buffer).await? > 0 {}
    Ok(())
}
