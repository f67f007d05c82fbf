//! Counts the statements that each thread runs, for metrics.

use std::cell::Cell;

thread_local! {
    static EXECUTED: Cell<u64> = const { Cell::new(0) };
}

/// Counts statements of this thread. On Postgres, batched rows are one statement.
pub(super) fn count_statements(more: usize) {
    EXECUTED.with(|executed| executed.set(executed.get() + more as u64));
}

/// The number of statements that this thread has run on SQLite or sent to Postgres.
pub fn executed_statements() -> u64 {
    EXECUTED.with(Cell::get)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Connection;

    #[test]
    fn each_execution_counts_once_on_its_own_thread() {
        let connection = Connection::Sqlite(rusqlite::Connection::open_in_memory().unwrap());
        let before = executed_statements();
        connection.execute_batch("CREATE TABLE t (a)").unwrap();
        connection.run("INSERT INTO t VALUES (?1)", [1]).unwrap();
        connection.execute("INSERT INTO t VALUES (?1)", [2]).unwrap();
        assert_eq!(connection.read_rows::<i64>("SELECT a FROM t", ()).unwrap(), [1, 2]);
        assert_eq!(executed_statements() - before, 4);
        assert_eq!(std::thread::spawn(executed_statements).join().unwrap(), 0);
    }
}
