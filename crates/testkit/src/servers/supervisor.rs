//! A shell that supervises one server process and cleans up when the test process ends.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A command, and the signals that end it.
pub(super) struct Launch {
    pub(super) command: Vec<OsString>,
    /// The time for a graceful shutdown.
    pub(super) stop: &'static str,
    /// Fast shutdown, when the data are no longer needed.
    pub(super) end: &'static str,
}

/// Starts and signals one server, and ends it when the test process is gone.
pub(super) struct Supervisor {
    shell: Child,
    /// Closing standard input ends the shell and the server.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Supervisor {
    /// Starts the shell, which takes over the folder. The server is not started yet.
    pub(super) fn start(folder: &Path, launch: &Launch) -> io::Result<Self> {
        let mut shell = Command::new("bash")
            .args(["-c", include_str!("supervisor.sh"), "supervisor"])
            .arg(folder)
            .args([launch.stop, launch.end])
            .args(&launch.command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Its own process group, so that killing ours leaves the cleanup running.
            .process_group(0)
            .spawn()?;
        let orders = shell.stdin.take();
        let answers = shell.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { shell, orders, answers: BufReader::new(answers) })
    }

    /// Sends an order and waits for the response.
    pub(super) fn order(&mut self, order: &str) -> io::Result<String> {
        let orders = self.orders.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(orders, "{order}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(answer.trim().to_owned())
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.orders = None;
        // The shell may have ended already.
        let _ = self.shell.wait();
    }
}
