//! Whether a broker answers, in its own protocol, and which version it says it is.
//!
//! A connection proves nothing: a stopped process and the proxy of a container engine accept one as well. So each probe asks something.

mod address;
mod amqp;
mod kafka;
mod redis;

use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};

pub use address::Address;

use super::{Deadline, Kind};

/// Asks the broker once, and gives the version that it says, `unknown` where it says none.
///
/// # Errors
///
/// It did not answer before `deadline`, or with something else than its protocol.
pub fn ask(kind: Kind, at: &Address, deadline: Deadline) -> io::Result<String> {
    match kind {
        Kind::Redis => redis::ask(at, deadline),
        Kind::Amqp => amqp::ask(at, deadline),
        Kind::Kafka => kafka::ask(at, deadline),
    }
}

/// A connection whose calls end: each read and write has what was left of the deadline.
fn connect(at: &Address, deadline: Deadline) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "its host name means no address");
    for address in (at.host(), at.port()).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, left(deadline)?) {
            Ok(stream) => {
                stream.set_read_timeout(Some(left(deadline)?))?;
                stream.set_write_timeout(Some(left(deadline)?))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn left(deadline: Deadline) -> io::Result<std::time::Duration> {
    let left = deadline.left();
    if left.is_zero() {
        return Err(io::Error::new(io::ErrorKind::TimedOut, "it has not answered in time"));
    }
    Ok(left)
}

fn strange(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("its answer is not of its protocol: {what}"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use super::{Address, ask};
    use crate::brokers::{Deadline, Kind};

    /// What a probe says to a server that reads and answers with `answer`.
    fn answered(kind: Kind, answer: &'static [u8]) -> Result<String, String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = Address::local(listener.local_addr().unwrap().port());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let read = stream.read(&mut [0; 512]).unwrap();
            stream.write_all(answer).unwrap();
            read
        });
        let said = ask(kind, &at, Deadline::after(Duration::from_secs(5))).map_err(|error| error.to_string());
        assert!(server.join().unwrap() > 0);
        said
    }

    #[test]
    fn a_server_that_accepts_and_is_silent_is_late_and_not_there() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = Address::local(listener.local_addr().unwrap().port());
        for kind in Kind::ALL {
            let deadline = Deadline::after(Duration::from_millis(100));
            assert!(ask(kind, &at, deadline).is_err(), "{kind}");
            assert!(deadline.elapsed() < Duration::from_secs(3), "{kind} took {:?}", deadline.elapsed());
        }
    }

    #[test]
    fn an_answer_of_another_protocol_is_none() {
        for kind in Kind::ALL {
            let error = answered(kind, b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap_err();
            assert!(error.contains("protocol"), "{kind}: {error}");
        }
    }

    #[test]
    fn a_redis_that_still_loads_its_data_is_not_ready() {
        let error = answered(Kind::Redis, b"-LOADING Redis is loading the dataset in memory\r\n").unwrap_err();
        assert!(error.contains("LOADING"), "{error}");
    }
}
