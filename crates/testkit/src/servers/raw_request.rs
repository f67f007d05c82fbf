//! Sends one request over TCP and reads the beginning of the response.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Sends the bytes to a loopback port and reads `length` bytes of the response.
pub(super) fn exchange(port: u16, request: &[u8], length: usize) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&loopback_address(port), RESPONSE_TIMEOUT)?;
    stream.set_read_timeout(Some(RESPONSE_TIMEOUT))?;
    stream.write_all(request)?;
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer)?;
    Ok(answer)
}

/// Returns an error that names the expectation unless it holds.
pub(super) fn ensure_expected(holds: bool, expected: &str) -> io::Result<()> {
    if holds { Ok(()) } else { Err(io::Error::new(io::ErrorKind::InvalidData, expected)) }
}

fn loopback_address(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}
