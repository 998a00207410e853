//! How much of what was written to a socket its other side has not acknowledged.
//!
//! A RST throws away what the kernel still has to send, so a reset after exactly n bytes waits for these. The number is a socket's
//! `tx_queue` in `/proc/net/tcp` (Linux, proc_net_tcp.rst); elsewhere it is not known and nothing is waited for.

use std::fmt::Write;
use std::fs;
use std::net::SocketAddr;

use tokio::net::TcpStream;

/// The bytes that are not acknowledged; 0 if that is not known.
pub(super) fn bytes(socket: &TcpStream) -> u64 {
    let (Ok(local), Ok(peer)) = (socket.local_addr(), socket.peer_addr()) else { return 0 };
    fs::read_to_string("/proc/net/tcp").ok().and_then(|table| unacknowledged(&table, local, peer)).unwrap_or(0)
}

/// Finds the connection in the table: `sl: local peer state tx_queue:rx_queue …`, numbers in hexadecimal.
fn unacknowledged(table: &str, local: SocketAddr, peer: SocketAddr) -> Option<u64> {
    let (local, peer) = (hexadecimal(local)?, hexadecimal(peer)?);
    table.lines().find_map(|line| {
        let mut columns = line.split_whitespace().skip(1);
        if columns.next() != Some(&local) || columns.next() != Some(&peer) {
            return None;
        }
        let (unacknowledged, _) = columns.nth(1)?.split_once(':')?;
        u64::from_str_radix(unacknowledged, 16).ok()
    })
}

/// An address as the table has it: four bytes in the machine's order, a colon, the port.
fn hexadecimal(address: SocketAddr) -> Option<String> {
    let SocketAddr::V4(address) = address else { return None };
    let mut text = String::with_capacity(13);
    write!(text, "{:08X}:{:04X}", u32::from_ne_bytes(address.ip().octets()), address.port()).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::unacknowledged;

    #[test]
    #[cfg(target_endian = "little")]
    fn a_connection_is_found_by_both_of_its_ends() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n\
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000\n\
             1: 0100007F:1F90 0100007F:C350 01 00000400:00000001 01:00000014\n";
        let at = |port| std::net::SocketAddr::from(([127, 0, 0, 1], port));
        assert_eq!(unacknowledged(table, at(8080), at(50_000)), Some(1024));
        assert_eq!(unacknowledged(table, at(50_000), at(8080)), None);
    }
}
