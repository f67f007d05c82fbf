//! One request and the beginning of its answer, over a bare connection.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(2);

/// Sends these bytes to a loopback port and reads this many of the answer.
pub(super) fn ask(port: u16, request: &[u8], length: usize) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&local(port), PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(request)?;
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer)?;
    Ok(answer)
}

/// An error that says what was expected.
pub(super) fn expect(holds: bool, expected: &str) -> io::Result<()> {
    if holds { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidData, expected)) }
}

fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}
