//! The statements that SQLite was given in this process, for the test that looks at how they are run.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// One more.
pub(super) fn note(sql: &str) {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if !seen.contains(sql) {
        seen.insert(sql.to_owned());
    }
}

/// All so far.
pub(crate) fn seen() -> Vec<String> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}
