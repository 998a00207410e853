//! Free loopback ports.

use std::net::{Ipv4Addr, TcpListener};

use super::BrokerError;

/// Below the range from which Linux and macOS take ports for outgoing connections: a server that is down for a while finds its port free
/// when it comes back.
const RANGE: std::ops::Range<u16> = 20_000..32_000;

/// So many are tried at most.
const ATTEMPTS: usize = 200;

/// `N` ports on which nobody listens. Nobody is kept from taking one meanwhile; with 12,000 to choose from that is rare.
pub(super) fn free<const N: usize>() -> Result<[u16; N], BrokerError> {
    let mut found = [0; N];
    let mut number = 0;
    for _ in 0..ATTEMPTS {
        if number == N {
            return Ok(found);
        }
        let port = fastrand::u16(RANGE);
        if !found.contains(&port) && is_free(port) {
            found[number] = port;
            number += 1;
        }
    }
    Err(BrokerError::NoPort(N))
}

/// Whether nobody listens on it.
pub(super) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::{free, is_free};

    #[test]
    fn a_free_port_is_free_until_it_is_taken() {
        let [one, other] = free::<2>().unwrap();
        assert_ne!(one, other);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, one)).unwrap();
        assert!(!is_free(one));
        drop(listener);
        assert!(is_free(one));
    }
}
