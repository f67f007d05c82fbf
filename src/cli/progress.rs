//! Progress bar for long-running commands.

use std::io::{IsTerminal, Write, stderr};

const BAR_CHARS: u64 = 30;

/// Drawn on standard error when it is a terminal.
#[derive(Debug)]
pub(super) struct Progress {
    unit: &'static str,
    on: bool,
}

impl Progress {
    pub(super) fn new(unit: &'static str) -> Self {
        Self { unit, on: stderr().is_terminal() }
    }

    pub(super) fn show(&self, done: u64, of: u64) {
        if !self.on || of == 0 {
            return;
        }
        let full = (done * BAR_CHARS / of).min(BAR_CHARS) as usize;
        let bar = "#".repeat(full) + &".".repeat(BAR_CHARS as usize - full);
        let end = if done >= of { "\n" } else { "" };
        // An error on the terminal must not stop the command.
        let _ = write!(stderr(), "\r[{bar}] {done} of {of} {}{end}", self.unit);
    }
}
