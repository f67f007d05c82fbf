//! The shell that keeps one server process, and outlives the test only to clean up after it.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// What to run, and the signals that end it.
pub(super) struct Launch {
    pub(super) command: Vec<OsString>,
    /// Ends it in order.
    pub(super) stop: &'static str,
    /// Ends it quickly, when its data are no longer needed.
    pub(super) end: &'static str,
}

/// A shell that starts and signals one server, and ends it when we are gone.
pub(super) struct Keeper {
    shell: Child,
    /// Closed to end everything.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Keeper {
    /// Takes over the folder; nothing runs yet.
    pub(super) fn of(folder: &Path, launch: &Launch) -> io::Result<Self> {
        let mut shell = Command::new("bash")
            .args(["-c", include_str!("keeper.sh"), "keeper"])
            .arg(folder)
            .args([launch.stop, launch.end])
            .args(&launch.command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Whoever ends our process group must leave the one that cleans up.
            .process_group(0)
            .spawn()?;
        let orders = shell.stdin.take();
        let answers = shell.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { shell, orders, answers: BufReader::new(answers) })
    }

    /// Gives an order and waits for the answer.
    pub(super) fn order(&mut self, order: &str) -> io::Result<String> {
        let orders = self.orders.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(orders, "{order}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(answer.trim().to_owned())
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.orders = None;
        // Nothing can be done about a shell that is gone already.
        let _ = self.shell.wait();
    }
}
