//! Skips a test whose server is missing, with a visible message.

use std::env;
use std::fmt;
use std::io::{self, Write};
use std::thread;

/// Reason why a server is not available.
#[derive(Clone, Debug)]
pub enum NoServer {
    /// Not installed on this machine. The test may be skipped.
    Missing {
        server: &'static str,
        /// The action that installs it.
        reason: String,
    },
    /// Installed, but it does not work. The test fails.
    Broken { server: &'static str, reason: String },
}

impl fmt::Display for NoServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { server, reason } => write!(f, "no {server}: {reason}"),
            Self::Broken { server, reason } => write!(f, "{server} does not work: {reason}"),
        }
    }
}

impl std::error::Error for NoServer {}

/// Returns the server, or prints `[skipped] TEST: REASON` past the test runner and returns `None`.
///
/// # Panics
/// When the server is broken, and with `UPTAKE_TEST_NO_SKIP=1` also when it is missing.
#[track_caller]
pub fn or_skip<S>(server: Result<S, NoServer>) -> Option<S> {
    let no_skip = env::var_os("UPTAKE_TEST_NO_SKIP").is_some_and(|value| value == "1");
    // Not `eprintln!`, which the test runner shows only for failed tests.
    decide(server, no_skip, &mut io::stderr())
}

#[track_caller]
fn decide<S>(server: Result<S, NoServer>, no_skip: bool, out: &mut dyn Write) -> Option<S> {
    match server {
        Ok(server) => Some(server),
        Err(NoServer::Missing { server, reason }) if !no_skip => {
            let test = thread::current().name().unwrap_or("a test").to_owned();
            let _ = writeln!(out, "[skipped] {test}: no {server}: {reason}");
            None
        }
        Err(why @ (NoServer::Missing { .. } | NoServer::Broken { .. })) => panic!("{why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{NoServer, decide};

    fn missing() -> Result<(), NoServer> {
        Err(NoServer::Missing { server: "Example", reason: "made up by this very test".into() })
    }

    #[test]
    fn a_missing_server_skips_the_test_with_a_message() {
        let mut said = Vec::new();
        assert!(decide(missing(), false, &mut said).is_none());
        let said = String::from_utf8(said).unwrap();
        assert!(said.starts_with("[skipped] "), "{said}");
        assert!(said.ends_with(": no Example: made up by this very test\n"), "{said}");
    }

    #[test]
    fn an_available_server_is_returned_without_a_message() {
        let mut said = Vec::new();
        assert_eq!(decide(Ok(7), true, &mut said), Some(7));
        assert!(said.is_empty());
    }

    #[test]
    #[should_panic(expected = "no Example: made up")]
    fn a_missing_server_fails_the_test_when_skipping_is_off() {
        decide(missing(), true, &mut Vec::new());
    }

    #[test]
    #[should_panic(expected = "Example does not work")]
    fn a_broken_server_always_fails_the_test() {
        let reason = "made up".to_owned();
        let broken: Result<(), _> = Err(NoServer::Broken { server: "Example", reason });
        decide(broken, false, &mut Vec::new());
    }
}
