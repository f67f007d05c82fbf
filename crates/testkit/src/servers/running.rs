//! A server process of ours: started, stopped, killed, paused, started again.

#![expect(clippy::expect_used, reason = "a server that cannot be signalled must stop the test")]

use std::env;
use std::fs;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::keeper::{Keeper, Launch};
use super::missing::NoServer;
use super::place;

/// Between two attempts to reach a server that starts.
const PAUSE: Duration = Duration::from_millis(20);
/// On a busy machine a JVM takes its time.
const PATIENCE: Duration = Duration::from_secs(180);

/// One kind of server: how it is started and asked.
pub(super) trait Server: Sized {
    /// As people call it.
    const NAME: &'static str;
    /// The environment variable with the address of one that runs already.
    const VARIABLE: &'static str;

    /// One that runs elsewhere.
    fn at(address: &str) -> Result<Self, String>;
    /// One that will run here, and how.
    fn plan(folder: &Path) -> Result<(Self, Launch), NoServer>;
    /// Fills the folder before the first start.
    fn prepare(&self, folder: &Path) -> Result<(), NoServer>;
    /// Whether it answers a request of its own protocol.
    fn answers(&self) -> io::Result<()>;

    /// A fault of the machine on the way to a server.
    fn broken(error: impl ToString) -> NoServer {
        NoServer::Broken { server: Self::NAME, reason: error.to_string() }
    }
}

/// A server for one test alone. It ends, and its data go, when this is dropped or when the test process
/// ends in whatever way.
pub struct Running<S> {
    server: S,
    folder: PathBuf,
    keeper: Mutex<Keeper>,
    pid: AtomicU32,
}

#[expect(private_bounds, reason = "the four kinds of server are all there are")]
impl<S: Server> Running<S> {
    pub(super) fn start() -> Result<Self, NoServer> {
        if given_address::<S>().is_some() {
            let reason = format!("{} names one that this test must not stop", S::VARIABLE);
            return Err(NoServer::Missing { server: S::NAME, reason });
        }
        Self::start_here()
    }

    fn start_here() -> Result<Self, NoServer> {
        let folder = place::fresh_folder().map_err(S::broken)?;
        let planned = S::plan(&folder).and_then(|(server, launch)| {
            let keeper = Keeper::of(&folder, &launch).map_err(S::broken)?;
            Ok((server, Mutex::new(keeper)))
        });
        let (server, keeper) = planned.inspect_err(|_| {
            let _ = fs::remove_dir(&folder);
        })?;
        // From here on the keeper removes the folder.
        let running = Self { server, folder, keeper, pid: AtomicU32::new(0) };
        running.server.prepare(&running.folder)?;
        running.launch()?;
        Ok(running)
    }

    fn launch(&self) -> Result<(), NoServer> {
        let pid = self.keeper().order("start").map_err(S::broken)?;
        self.pid.store(pid.parse().map_err(S::broken)?, Ordering::Relaxed);
        self.wait_until_it_answers()
    }

    /// Waits until it answers a request of its own protocol.
    #[expect(clippy::disallowed_methods, reason = "a real process takes real time")]
    pub fn wait_until_it_answers(&self) -> Result<(), NoServer> {
        let begin = Instant::now();
        while self.server.answers().is_err() {
            if !self.is_alive() {
                return Err(S::broken(format!("it ended by itself: {}", self.log_end())));
            }
            if begin.elapsed() > PATIENCE {
                return Err(S::broken(format!("it does not answer: {}", self.log_end())));
            }
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Ends it in order and waits until it is gone.
    pub fn stop(&self) {
        self.order("stop");
    }

    /// Kills it and its processes with −9, as a crash would.
    pub fn kill(&self) {
        self.order("kill");
    }

    /// Stops it in its tracks: its port is open and nobody answers.
    pub fn pause(&self) {
        self.order("pause");
    }

    /// Lets it go on after [`Running::pause`].
    pub fn resume(&self) {
        self.order("resume");
    }

    /// Starts it again on the same port with the same data, and waits until it answers. Ends it first
    /// if it still runs. What is left of one that was killed may hold its memory or its port for a while;
    /// then it ends by itself, and is started once more.
    #[expect(clippy::disallowed_methods, reason = "a real process takes real time")]
    pub fn restart(&self) {
        self.stop();
        let begin = Instant::now();
        while let Err(error) = self.launch() {
            let is_over = self.is_alive() || begin.elapsed() > PATIENCE;
            assert!(!is_over, "a server that started once starts again: {error:?}");
            thread::sleep(PAUSE);
        }
    }

    /// Whether the process is there.
    pub fn is_alive(&self) -> bool {
        self.order("alive") == "yes"
    }

    /// Whether it answers a request of its own protocol now.
    pub fn answers(&self) -> bool {
        self.server.answers().is_ok()
    }

    /// The process that was started last.
    pub fn pid(&self) -> u32 {
        self.pid.load(Ordering::Relaxed)
    }

    /// The folder with its data and its log.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The last lines that it wrote.
    pub fn log_end(&self) -> String {
        let log = fs::read(self.folder.join("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().rev().take(12).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    fn order(&self, order: &str) -> String {
        self.keeper().order(order).expect("the keeper answers as long as we live")
    }

    fn keeper(&self) -> MutexGuard<'_, Keeper> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> Deref for Running<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.server
    }
}

/// The server that all tests of a binary share.
pub(super) enum Shared<S> {
    Ours(Running<S>),
    Elsewhere(S),
}

/// A place for the shared server; filled when the first test asks.
pub(super) type Slot<S> = OnceLock<Result<Shared<S>, NoServer>>;

/// The server of this slot. Nobody can stop it, for others use it too.
pub(super) fn shared<S: Server>(slot: &'static Slot<S>) -> Result<&'static S, NoServer> {
    let server = slot.get_or_init(|| match given_address::<S>() {
        Some(address) => {
            let server = S::at(&address);
            let explain = |why| S::broken(format!("{}: {why}", S::VARIABLE));
            server.map(Shared::Elsewhere).map_err(explain)
        }
        None => Running::start_here().map(Shared::Ours),
    });
    match server {
        Ok(Shared::Ours(running)) => Ok(running),
        Ok(Shared::Elsewhere(server)) => Ok(server),
        Err(why) => Err(why.clone()),
    }
}

/// Where a server runs already, if the environment says so.
fn given_address<S: Server>() -> Option<String> {
    let address = env::var_os(S::VARIABLE)?.to_string_lossy().into_owned();
    (!address.is_empty()).then_some(address)
}
