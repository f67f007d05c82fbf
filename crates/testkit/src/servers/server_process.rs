//! A server process that tests start, stop, kill, pause and restart.

#![expect(clippy::expect_used, reason = "a server that cannot be signalled must stop the test")]

use std::env;
use std::fs;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::missing_server::NoServer;
use super::supervisor::{Launch, Supervisor};
use super::unique_names;
use parking_lot::Mutex;

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Long enough for a JVM on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(180);

/// One kind of server: its launch command and its health check.
pub(super) trait Server: Sized {
    const NAME: &'static str;
    /// Environment variable with the address of a server that already runs.
    const VARIABLE: &'static str;

    /// A server that already runs at this address.
    fn from_address(address: &str) -> Result<Self, String>;
    /// A server to be started in this folder, and its launch command.
    fn plan(folder: &Path) -> Result<(Self, Launch), NoServer>;
    /// Prepares the folder before the first start.
    fn prepare(&self, folder: &Path) -> Result<(), NoServer>;
    /// Succeeds when the server answers a request of its own protocol.
    fn answers(&self) -> io::Result<()>;

    /// A local fault, not one of the server.
    fn broken(error: impl ToString) -> NoServer {
        NoServer::Broken { server: Self::NAME, reason: error.to_string() }
    }
}

/// A server for one test. It ends and its data are removed when this is dropped or when the test
/// process ends, for whatever reason.
pub struct ServerProcess<S> {
    server: S,
    folder: PathBuf,
    supervisor: Mutex<Supervisor>,
    pid: AtomicU32,
}

#[expect(private_bounds, reason = "the four kinds of server are all there are")]
impl<S: Server> ServerProcess<S> {
    pub(super) fn start() -> Result<Self, NoServer> {
        if configured_address::<S>().is_some() {
            let reason = format!("{} names one that this test must not stop", S::VARIABLE);
            return Err(NoServer::Missing { server: S::NAME, reason });
        }
        Self::start_here()
    }

    fn start_here() -> Result<Self, NoServer> {
        let folder = unique_names::fresh_folder().map_err(S::broken)?;
        let planned = S::plan(&folder).and_then(|(server, launch)| {
            let supervisor = Supervisor::start(&folder, &launch).map_err(S::broken)?;
            Ok((server, Mutex::new(supervisor)))
        });
        let (server, supervisor) = planned.inspect_err(|_| {
            let _ = fs::remove_dir(&folder);
        })?;
        // From here on the supervisor removes the folder.
        let running = Self { server, folder, supervisor, pid: AtomicU32::new(0) };
        running.server.prepare(&running.folder)?;
        running.launch()?;
        Ok(running)
    }

    fn launch(&self) -> Result<(), NoServer> {
        let pid = self.supervisor.lock().order("start").map_err(S::broken)?;
        self.pid.store(pid.parse().map_err(S::broken)?, Ordering::Relaxed);
        self.wait_until_ready()
    }

    #[expect(clippy::disallowed_methods, reason = "a real process takes real time")]
    pub fn wait_until_ready(&self) -> Result<(), NoServer> {
        let begin = Instant::now();
        while self.server.answers().is_err() {
            if !self.is_alive() {
                return Err(S::broken(format!("it ended by itself: {}", self.log_end())));
            }
            if begin.elapsed() > START_TIMEOUT {
                return Err(S::broken(format!("it does not answer: {}", self.log_end())));
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// Stops the server with its regular signal and waits for its end.
    pub fn stop(&self) {
        self.order("stop");
    }

    /// Kills the server and its child processes with SIGKILL.
    pub fn kill(&self) {
        self.order("kill");
    }

    /// Stops the process with SIGSTOP: the port stays open, requests get no answer.
    pub fn pause(&self) {
        self.order("pause");
    }

    pub fn resume(&self) {
        self.order("resume");
    }

    /// Restarts the server on the same port with the same data and waits until it answers. Remains of a
    /// killed process may hold its memory or port for a while; the new process then exits and is started
    /// once more.
    #[expect(clippy::disallowed_methods, reason = "a real process takes real time")]
    pub fn restart(&self) {
        self.stop();
        let begin = Instant::now();
        while let Err(error) = self.launch() {
            let is_over = self.is_alive() || begin.elapsed() > START_TIMEOUT;
            assert!(!is_over, "a server that started once starts again: {error:?}");
            thread::sleep(POLL_INTERVAL);
        }
    }

    pub fn is_alive(&self) -> bool {
        self.order("alive") == "yes"
    }

    /// True when the server answers a request of its own protocol.
    pub fn answers(&self) -> bool {
        self.server.answers().is_ok()
    }

    pub fn pid(&self) -> u32 {
        self.pid.load(Ordering::Relaxed)
    }

    /// The folder with data and log.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The last lines of the server's log.
    pub fn log_end(&self) -> String {
        let log = fs::read(self.folder.join("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().rev().take(12).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    fn order(&self, order: &str) -> String {
        self.supervisor.lock().order(order).expect("the supervisor answers as long as we live")
    }
}

impl<S> Deref for ServerProcess<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.server
    }
}

/// The server that all tests of a binary share.
pub(super) enum Shared<S> {
    Ours(ServerProcess<S>),
    Elsewhere(S),
}

/// Filled by the first test that uses the server.
pub(super) type Slot<S> = OnceLock<Result<Shared<S>, NoServer>>;

/// The server in this slot. Tests cannot stop it, since others use it too.
pub(super) fn shared<S: Server>(slot: &'static Slot<S>) -> Result<&'static S, NoServer> {
    let server = slot.get_or_init(|| match configured_address::<S>() {
        Some(address) => {
            let server = S::from_address(&address);
            let explain = |why| S::broken(format!("{}: {why}", S::VARIABLE));
            server.map(Shared::Elsewhere).map_err(explain)
        }
        None => ServerProcess::start_here().map(Shared::Ours),
    });
    match server {
        Ok(Shared::Ours(running)) => Ok(running),
        Ok(Shared::Elsewhere(server)) => Ok(server),
        Err(why) => Err(why.clone()),
    }
}

/// The address in the server's environment variable, if set.
fn configured_address<S: Server>() -> Option<String> {
    let address = env::var_os(S::VARIABLE)?.to_string_lossy().into_owned();
    (!address.is_empty()).then_some(address)
}
