//! Redis, with every write in a file before it is answered, so that a restart finds it.

use std::io;
use std::path::Path;

use super::installed::path_of;
use super::keeper::Launch;
use super::missing::NoServer;
use super::running::{Running, Server, Slot, shared};
use super::{place, wire};

/// A Redis server.
pub struct Redis {
    url: String,
    port: u16,
}

impl Redis {
    /// One for this test alone.
    pub fn start() -> Result<Running<Self>, NoServer> {
        Running::start()
    }

    /// The one that all tests of this binary share.
    pub fn shared() -> Result<&'static Self, NoServer> {
        static SHARED: Slot<Redis> = Slot::new();
        shared(&SHARED)
    }

    /// Where it is, as `redis://127.0.0.1:PORT/`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What a test's keys begin with, so that it does not see those of others.
    pub fn prefix(&self) -> String {
        format!("{}:", place::fresh_name())
    }
}

impl Server for Redis {
    const NAME: &'static str = "Redis";
    const VARIABLE: &'static str = "UPTAKE_TEST_REDIS";

    fn at(address: &str) -> Result<Self, String> {
        Ok(Self { url: address.to_owned(), port: 0 })
    }

    fn plan(folder: &Path) -> Result<(Self, Launch), NoServer> {
        let program = path_of(Self::NAME, "redis_server")?;
        let port = place::free_port().map_err(Self::broken)?;
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
        // While it reads its file it answers `-LOADING`.
        let answer = wire::ask(self.port, b"PING\r\n", 7)?;
        wire::expect(answer == b"+PONG\r\n", "PONG")
    }
}
