//! The server under test: restarted on one port, with a disk limit and a clock that can be changed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

/// Killed when dropped.
pub(crate) struct Node {
    binary: PathBuf,
    folder: TempDir,
    clock: TempDir,
    faketime: Option<PathBuf>,
    port: u16,
    pub(crate) url: String,
    child: Child,
    /// Number of starts.
    pub(crate) starts: u32,
}

impl Node {
    /// Starts on a fresh folder.
    pub(crate) fn start(binary: &Path) -> anyhow::Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let (folder, clock) = (tempfile::tempdir()?, tempfile::tempdir()?);
        fs::write(clock.path().join("offset"), "+0s\n")?;
        let faketime = testkit::servers::faketime().ok();
        let child = spawn(binary, folder.path(), clock.path(), faketime.as_deref(), port)?;
        let url = format!("http://127.0.0.1:{port}");
        let binary = binary.to_owned();
        Ok(Self { binary, folder, clock, faketime, port, url, child, starts: 1 })
    }

    pub(crate) fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Restarts on the same folder and port.
    pub(crate) fn restart(&mut self) -> anyhow::Result<()> {
        let (folder, clock) = (self.folder.path(), self.clock.path());
        self.child = spawn(&self.binary, folder, clock, self.faketime.as_deref(), self.port)?;
        self.starts += 1;
        Ok(())
    }

    /// Limits the growth of its files beyond the current size of the write-ahead log; `None` lifts the limit.
    /// Every commit goes into that log, so some commit finds no space.
    pub(crate) fn limit_growth(&self, more: Option<u64>) -> anyhow::Result<()> {
        let log = fs::metadata(self.folder.path().join("uptake.db-wal"))?.len();
        let limit = more.map_or("unlimited".to_owned(), |more| (log + more).to_string());
        let (pid, size) = (self.child.id().to_string(), format!("--fsize={limit}:unlimited"));
        let set = Command::new("prlimit").args(["--pid", &pid, &size]).status()?;
        ensure!(set.success(), "prlimit did not work");
        Ok(())
    }

    /// Offsets its clock by this many seconds; false where that is not possible.
    pub(crate) fn set_clock(&self, seconds: i64) -> anyhow::Result<bool> {
        // Atomically, or the server could read half of it.
        let (new, file) = (self.clock.path().join("new"), self.clock.path().join("offset"));
        fs::write(&new, format!("{seconds:+}s\n"))?;
        fs::rename(new, file)?;
        Ok(self.faketime.is_some())
    }

    /// Makes a backup while it serves; returns the error, if any.
    pub(crate) fn back_up(&self) -> anyhow::Result<Option<String>> {
        let place = tempfile::tempdir()?;
        let mut command = Command::new(&self.binary);
        command.arg("backup").arg("--to").arg(place.path().join("copy.db"));
        let done = command.arg("--data").arg(self.folder.path()).output()?;
        let stderr = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        Ok((!done.status.success()).then_some(stderr))
    }

    /// Resident memory in bytes.
    pub(crate) fn memory(&self) -> anyhow::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        Ok(kib.context("unreadable /proc/PID/status")? * 1024)
    }

    /// Stops it gracefully and runs `uptake rebuild`; returns the output.
    pub(crate) fn rebuild(mut self) -> anyhow::Result<serde_json::Value> {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status()?;
        self.child.wait()?;
        let mut command = Command::new(&self.binary);
        let done =
            command.args(["rebuild", "--json", "--data"]).arg(self.folder.path()).output()?;
        if !done.status.success() {
            bail!("the rebuild failed: {}", String::from_utf8_lossy(&done.stderr));
        }
        Ok(serde_json::from_slice(&done.stdout)?)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if self.child.kill().is_ok() {
            drop(self.child.wait());
        }
    }
}

fn spawn(
    binary: &Path,
    folder: &Path,
    clock: &Path,
    faketime: Option<&Path>,
    port: u16,
) -> anyhow::Result<Child> {
    // A full disk is an error instead of a signal.
    let script = "trap '' XFSZ; exec \"$0\" serve --listen \"127.0.0.1:$2\" --data \"$1\"";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(binary).arg(folder).arg(port.to_string());
    if let Some(library) = faketime {
        command.env("LD_PRELOAD", library);
        command.env("FAKETIME_TIMESTAMP_FILE", clock.join("offset"));
        command.env("FAKETIME_CACHE_DURATION", "1");
        // Timeouts use the monotonic clock, which stays correct.
        command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    }
    // Its log lines would hide the report.
    command.env("UPTAKE__LOG__LEVEL", "error").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("no standard output")?).read_line(&mut line)?;
    if !line.starts_with("listening on ") {
        drop(child.kill());
        drop(child.wait());
        bail!("the server did not start: {line:?}");
    }
    Ok(child)
}
