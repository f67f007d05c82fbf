//! Redis with an append-only file that is synced on every write.

use std::io;
use std::path::Path;

use super::inventory::find_path;
use super::missing_server::NoServer;
use super::server_process::{Server, ServerProcess, Slot, shared};
use super::supervisor::Launch;
use super::{raw_request, unique_names};

pub struct Redis {
    url: String,
    port: u16,
}

impl Redis {
    /// A server for one test.
    pub fn start() -> Result<ServerProcess<Self>, NoServer> {
        ServerProcess::start()
    }

    /// The server that all tests of this binary share.
    pub fn shared() -> Result<&'static Self, NoServer> {
        static SHARED: Slot<Redis> = Slot::new();
        shared(&SHARED)
    }

    /// For example `redis://127.0.0.1:PORT/`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A key prefix for one test.
    pub fn prefix(&self) -> String {
        format!("{}:", unique_names::fresh_name())
    }
}

impl Server for Redis {
    const NAME: &'static str = "Redis";
    const VARIABLE: &'static str = "UPTAKE_TEST_REDIS";

    fn from_address(address: &str) -> Result<Self, String> {
        Ok(Self { url: address.to_owned(), port: 0 })
    }

    fn plan(folder: &Path) -> Result<(Self, Launch), NoServer> {
        let program = find_path(Self::NAME, "redis_server")?;
        let port = unique_names::free_port().map_err(Self::broken)?;
        let mut command = vec![program.into_os_string()];
        let number = port.to_string();
        let arguments = [
            "--bind",
            "127.0.0.1",
            "--port",
            &number,
            "--appendonly",
            "yes",
            "--save",
            "",
            "--dir",
        ];
        command.extend(arguments.map(Into::into));
        command.push(folder.into());
        let url = format!("redis://127.0.0.1:{port}/");
        Ok((Self { url, port }, Launch { command, stop: "TERM", end: "KILL" }))
    }

    fn prepare(&self, _folder: &Path) -> Result<(), NoServer> {
        Ok(())
    }

    fn answers(&self) -> io::Result<()> {
        // While it loads its file it answers `-LOADING`.
        let answer = raw_request::exchange(self.port, b"PING\r\n", 7)?;
        raw_request::ensure_expected(answer == b"+PONG\r\n", "PONG")
    }
}
