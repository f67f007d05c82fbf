//! Names, ports and folders that no other test uses.

use std::env;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below the ephemeral ports: a restarted server must find its port free.
const FIRST_PORT: u32 = 20_000;
const PORTS: u32 = 12_000;

/// A name of lower-case letters and digits, unique on this machine.
pub(super) fn fresh_name() -> String {
    format!("uptaketest{}n{}", process::id(), next())
}

pub(super) fn fresh_folder() -> io::Result<PathBuf> {
    let folder = env::temp_dir().join(fresh_name());
    fs::create_dir(&folder)?;
    Ok(folder)
}

pub(super) fn free_port() -> io::Result<u16> {
    // Processes start at different offsets, so that two do not find the same port.
    let begin = process::id().wrapping_mul(97);
    for _ in 0..PORTS {
        let port = FIRST_PORT + begin.wrapping_add(next()) % PORTS;
        let port = u16::try_from(port).map_err(io::Error::other)?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(io::ErrorKind::AddrInUse.into())
}

fn next() -> u32 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed)
}
