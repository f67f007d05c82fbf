//! The server under test, and its system metrics.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tempfile::TempDir;

/// The program under test.
#[derive(Debug)]
pub(crate) struct Binary(PathBuf);

impl Binary {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn megabytes(&self) -> anyhow::Result<f64> {
        Ok(fs::metadata(&self.0)?.len() as f64 / 1e6)
    }

    /// Starts on a fresh folder.
    pub(crate) fn start(&self) -> anyhow::Result<Server> {
        self.start_in(tempfile::tempdir()?)
    }

    /// Starts on a folder that was used before.
    pub(crate) fn start_in(&self, folder: TempDir) -> anyhow::Result<Server> {
        self.start_as(folder, &[])
    }

    /// Starts on a fresh folder, with settings from the environment.
    pub(crate) fn start_with(&self, settings: &[(&str, &str)]) -> anyhow::Result<Server> {
        self.start_as(tempfile::tempdir()?, settings)
    }

    fn start_as(&self, folder: TempDir, settings: &[(&str, &str)]) -> anyhow::Result<Server> {
        let begun = now();
        let mut child = Command::new(&self.0)
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(folder.path())
            .env("UPTAKE__LOG__LEVEL", "warn")
            .envs(settings.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", self.0.display()))?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("no standard output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let Some(url) = line.trim().strip_prefix("listening on ") else {
            bail!("the server did not start: {line:?}");
        };
        let started_in = begun.elapsed();
        let key = self.create_key(folder.path())?;
        Ok(Server { child, url: url.to_owned(), key, started_in, folder })
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.0);
        command.args(arguments);
        command
    }

    /// Imports a file of events into a folder without a server.
    pub(crate) fn import(&self, folder: &Path, file: &Path) -> anyhow::Result<()> {
        let output =
            Command::new(&self.0).arg("import").arg(file).arg("--data").arg(folder).output()?;
        if !output.status.success() {
            bail!("the import failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }

    /// Creates a key: everything is measured with keys on, as in production.
    fn create_key(&self, folder: &Path) -> anyhow::Result<String> {
        let output = Command::new(&self.0)
            .args(["keys", "create", "--tenant", "default", "--role", "admin", "--data"])
            .arg(folder)
            .output()?;
        let key = String::from_utf8(output.stdout)?.trim().to_owned();
        if key.is_empty() {
            bail!("cannot create a key: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(key)
    }
}

/// Killed when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) started_in: Duration,
    folder: TempDir,
}

impl Server {
    /// Stops it gracefully, and keeps its data.
    pub(crate) fn stop(mut self) -> anyhow::Result<TempDir> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        self.child.wait()?;
        Ok(std::mem::replace(&mut self.folder, tempfile::tempdir()?))
    }

    /// CPU time used so far, user and system.
    pub(crate) fn cpu_seconds(&self) -> anyhow::Result<f64> {
        let [_, user, system, ..] = process_stat(self.child.id())?;
        Ok((user + system) / TICKS_PER_SECOND)
    }

    pub(crate) fn written_bytes(&self) -> anyhow::Result<f64> {
        let io = fs::read_to_string(format!("/proc/{}/io", self.child.id()))?;
        let written = io.lines().find_map(|line| line.strip_prefix("write_bytes:"));
        written.and_then(|bytes| bytes.trim().parse().ok()).context("unreadable /proc/PID/io")
    }

    pub(crate) fn megabytes(&self) -> anyhow::Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        Ok(kib.context("unreadable /proc/PID/status")? * 1024.0 / 1e6)
    }

    pub(crate) fn data_megabytes(&self) -> anyhow::Result<f64> {
        let size = |path: &Path| fs::metadata(path).map(|data| data.len()).unwrap_or(0);
        let files = fs::read_dir(self.folder.path())?;
        let bytes: u64 = files.filter_map(Result::ok).map(|file| size(&file.path())).sum();
        Ok(bytes as f64 / 1e6)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.child.kill().is_ok() {
            drop(self.child.wait());
        }
    }
}

const TICKS_PER_SECOND: f64 = 100.0;

/// Parent, and CPU time in ticks: user, system, and both of its ended children.
fn process_stat(pid: u32) -> anyhow::Result<[f64; 5]> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok());
    let numbers: Option<Vec<f64>> = [1, 11, 12, 13, 14].into_iter().map(number).collect();
    numbers.and_then(|numbers| numbers.try_into().ok()).context("unreadable /proc/PID/stat")
}

/// CPU time of a process and of its children so far, also of those that ended.
pub(crate) fn cpu_seconds_with_children(pid: u32) -> anyhow::Result<f64> {
    let mut ticks: f64 = process_stat(pid)?[1..].iter().sum();
    for entry in fs::read_dir("/proc")? {
        let Some(child) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // A process that ended since the list was read is counted by its parent.
        if let Ok([parent, user, system, ..]) = process_stat(child)
            && parent == f64::from(pid)
        {
            ticks += user + system;
        }
    }
    Ok(ticks / TICKS_PER_SECOND)
}

/// The only place here that reads the clock.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
