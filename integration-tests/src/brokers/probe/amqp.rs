//! RabbitMQ: the protocol header, answered by `connection.start`, which tells the version.

use std::io::{self, Read as _, Write as _};

use super::{Address, connect, strange};
use crate::brokers::Deadline;

/// The largest first frame that is read.
const LARGEST: u32 = 64 * 1024;

pub(super) fn ask(at: &Address, deadline: Deadline) -> io::Result<String> {
    let mut stream = connect(at, deadline)?;
    stream.write_all(b"AMQP\0\0\x09\x01")?;
    // A method frame: 1, the channel, the size.
    let mut header = [0; 7];
    stream.read_exact(&mut header)?;
    let [kind, _, _, size @ ..] = header;
    let size = u32::from_be_bytes(size);
    if kind != 1 || size > LARGEST {
        return Err(strange("the first frame is no method"));
    }
    let mut start = Vec::new();
    stream.take(u64::from(size)).read_to_end(&mut start)?;
    Ok(version(&start).unwrap_or_else(|| "unknown".to_owned()))
}

/// The server property `version`: its name as a short string, `S`, and a long string.
fn version(start: &[u8]) -> Option<String> {
    const NAME: &[u8] = b"\x07versionS";
    let at = start.windows(NAME.len()).position(|window| window == NAME)? + NAME.len();
    let (length, rest) = start.get(at..)?.split_first_chunk::<4>()?;
    let version = rest.get(..usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    String::from_utf8(version.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn the_version_stands_in_the_server_properties() {
        let start = b"\x00\x0a\x00\x0a\x00\x09\x00\x00\x00\x20\x07productS\x00\x00\x00\x08RabbitMQ\x07versionS\x00\x00\x00\x063.10.8";
        assert_eq!(version(start).as_deref(), Some("3.10.8"));
        assert_eq!(version(b"\x07versionS\x00\x00\x00\xff3.10.8"), None);
    }
}
