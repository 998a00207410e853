//! Redis and Valkey: `PING`, then `INFO server`.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use super::{Address, connect, strange};
use crate::brokers::Deadline;

/// The longest `INFO` that is read.
const LONGEST: usize = 64 * 1024;

pub(super) fn ask(at: &Address, deadline: Deadline) -> io::Result<String> {
    let mut stream = BufReader::new(connect(at, deadline)?);
    if let (user, Some(password)) = at.credentials() {
        let words: Vec<_> = ["AUTH"].into_iter().chain(user).chain([password]).collect();
        expect(&mut stream, &words, "+OK")?;
    }
    expect(&mut stream, &["PING"], "+PONG")?;
    send(stream.get_mut(), &["INFO", "server"])?;
    let length = line(&mut stream)?.strip_prefix('$').and_then(|length| length.parse().ok()).filter(|l| *l <= LONGEST);
    let mut info = vec![0; length.ok_or_else(|| strange("INFO"))?];
    stream.read_exact(&mut info)?;
    Ok(version(&String::from_utf8_lossy(&info)))
}

/// Valkey says `redis_version` too, of the Redis that it is like.
fn version(info: &str) -> String {
    let field = |name| info.lines().find_map(|line| line.strip_prefix(name));
    let version = field("valkey_version:").or_else(|| field("redis_version:"));
    version.unwrap_or("unknown").trim().to_owned()
}

fn expect(stream: &mut BufReader<TcpStream>, words: &[&str], answer: &str) -> io::Result<()> {
    send(stream.get_mut(), words)?;
    let said = line(stream)?;
    if said == answer {
        return Ok(());
    }
    // An error answers no secret; what follows its first word can.
    Err(strange(said.split(' ').next().unwrap_or_default()))
}

fn send(stream: &mut TcpStream, words: &[&str]) -> io::Result<()> {
    let mut request = format!("*{}\r\n", words.len());
    for word in words {
        request.push_str(&format!("${}\r\n{word}\r\n", word.len()));
    }
    stream.write_all(request.as_bytes())
}

fn line(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = Vec::new();
    stream.by_ref().take(1024).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it closed the connection"));
    }
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn valkey_is_known_by_its_own_version() {
        assert_eq!(version("# Server\r\nredis_version:7.0.15\r\n"), "7.0.15");
        assert_eq!(version("redis_version:7.2.4\r\nvalkey_version:9.1.2\r\n"), "9.1.2");
        assert_eq!(version(""), "unknown");
    }
}
