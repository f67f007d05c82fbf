//! Every SQLite statement of this process, for tests of query plans.

use std::collections::BTreeSet;

use parking_lot::Mutex;

static STATEMENTS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

pub(super) fn record_statement(sql: &str) {
    let mut statements = STATEMENTS.lock();
    if !statements.contains(sql) {
        statements.insert(sql.to_owned());
    }
}

pub fn recorded_statements() -> Vec<String> {
    STATEMENTS.lock().iter().cloned().collect()
}
