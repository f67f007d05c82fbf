//! Shows how far long work has come, on a terminal only.

use std::io::{IsTerminal, Write, stderr};

const WIDTH: u64 = 30;

/// A bar on standard error that is drawn over itself.
#[derive(Debug)]
pub(super) struct Progress {
    what: &'static str,
    on: bool,
}

impl Progress {
    /// A bar about this, if standard error is a terminal.
    pub(super) fn new(what: &'static str) -> Self {
        Self { what, on: stderr().is_terminal() }
    }

    /// Draws it.
    pub(super) fn show(&self, done: u64, of: u64) {
        if !self.on || of == 0 {
            return;
        }
        let full = (done * WIDTH / of).min(WIDTH) as usize;
        let bar = "#".repeat(full) + &".".repeat(WIDTH as usize - full);
        let end = if done >= of { "\n" } else { "" };
        // A terminal that cannot be written to is no reason to stop.
        let _ = write!(stderr(), "\r[{bar}] {done} of {of} {}{end}", self.what);
    }
}
