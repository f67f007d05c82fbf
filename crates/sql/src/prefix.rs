//! Runs statements against a second set of tables, whose names have a prefix.
//!
//! A statement refers to a table after `FROM`, `JOIN`, `INTO` or `UPDATE`. The prefixed table keeps
//! the plain name as its alias, so the rest of the statement stays as it is. A quoted name gets no
//! prefix.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// A prefix, and the tables that have a prefixed counterpart.
#[derive(Debug)]
pub struct TablePrefix {
    pub prefix: &'static str,
    pub has_counterpart: fn(&str) -> bool,
}

thread_local! {
    // Per thread, because a connection and its statements stay on one thread while they are used.
    static ACTIVE: Cell<Option<&'static TablePrefix>> = const { Cell::new(None) };
}

/// Statements with prefixed tables, by their original.
static PREFIXED: LazyLock<Mutex<HashMap<String, Arc<str>>>> = LazyLock::new(Mutex::default);

/// Ends the prefix, also when the caller panics.
struct Ended;

impl Drop for Ended {
    fn drop(&mut self) {
        ACTIVE.set(None);
    }
}

impl TablePrefix {
    /// Statements that `run` prepares on this thread read and write the prefixed tables.
    pub fn apply<T>(&'static self, run: impl FnOnce() -> T) -> T {
        ACTIVE.set(Some(self));
        let _ended = Ended;
        run()
    }
}

/// True while statements get a prefix.
pub fn is_prefixed() -> bool {
    ACTIVE.get().is_some()
}

/// The statement with prefixed tables, while a prefix is active.
pub(crate) fn prefixed(sql: &str) -> Option<Arc<str>> {
    let prefix = ACTIVE.get()?;
    // Every statement of the map is complete, even after a panic.
    let mut known = PREFIXED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(prefixed) = known.get(sql) {
        return Some(Arc::clone(prefixed));
    }
    let prefixed: Arc<str> = add_prefix(sql, prefix).into();
    known.insert(sql.to_owned(), Arc::clone(&prefixed));
    Some(prefixed)
}

/// Words that may follow a table without an alias.
const AFTER_TABLE: [&str; 21] = [
    "WHERE",
    "SET",
    "ON",
    "JOIN",
    "LEFT",
    "CROSS",
    "INNER",
    "ORDER",
    "GROUP",
    "LIMIT",
    "USING",
    "INDEXED",
    "NOT",
    "UNION",
    "VALUES",
    "SELECT",
    "DEFAULT",
    "RETURNING",
    "FROM",
    "FOR",
    "EXCEPT",
];

fn add_prefix(sql: &str, TablePrefix { prefix, has_counterpart }: &TablePrefix) -> String {
    let (mut out, mut rest, mut before) = (String::with_capacity(sql.len() + 64), sql, "");
    let is_replace = sql.trim_start().starts_with("REPLACE ");
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '\'' | '"' => rest[1..].find(first).map_or(rest.len(), |at| at + 2),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        rest = after;
        if !is_word(first) {
            out.push_str(token);
            before = if first.is_whitespace() { before } else { "" };
            continue;
        }
        if matches!(before, "FROM" | "JOIN" | "INTO" | "UPDATE") && has_counterpart(token) {
            out.push_str(prefix);
            out.push_str(token);
            if !is_replace && !has_alias(after) {
                out.push_str(" AS ");
                out.push_str(token);
            }
        } else {
            out.push_str(token);
        }
        before = token;
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn has_alias(after: &str) -> bool {
    let after = after.trim_start();
    let word = &after[..after.find(|c| !is_word(c)).unwrap_or(after.len())];
    !word.is_empty() && !AFTER_TABLE.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    static OLD: TablePrefix =
        TablePrefix { prefix: "old_", has_counterpart: |table| ["a", "b"].contains(&table) };

    #[test]
    fn only_tables_get_the_prefix() {
        let rows = [
            ("SELECT a FROM a WHERE a.b = ?1", "SELECT a FROM old_a AS a WHERE a.b = ?1"),
            ("SELECT x.a FROM a x JOIN c ON b", "SELECT x.a FROM old_a x JOIN c ON b"),
            ("SELECT 1 FROM c LEFT JOIN b y", "SELECT 1 FROM c LEFT JOIN old_b y"),
            (
                "INSERT INTO a (a, b) VALUES (?1, ?2) ON CONFLICT (a) DO UPDATE SET b = a.b + 1",
                "INSERT INTO old_a AS a (a, b) VALUES (?1, ?2) ON CONFLICT (a) DO UPDATE SET b = a.b + 1",
            ),
            ("UPDATE a SET b = 'FROM a'", "UPDATE old_a AS a SET b = 'FROM a'"),
            ("DELETE FROM a\n WHERE b", "DELETE FROM old_a AS a\n WHERE b"),
            ("REPLACE INTO b (a) VALUES (1)", "REPLACE INTO old_b (a) VALUES (1)"),
            ("SELECT (SELECT 1 FROM b), 2", "SELECT (SELECT 1 FROM old_b AS b), 2"),
            ("INSERT INTO a SELECT b FROM \"a\"", "INSERT INTO old_a AS a SELECT b FROM \"a\""),
            ("SELECT 1 -- FROM a", "SELECT 1 -- FROM a"),
        ];
        for (plain, prefixed) in rows {
            assert_eq!(add_prefix(plain, &OLD), prefixed);
        }
    }

    #[test]
    fn prefix_ends_with_its_closure() {
        assert_eq!(prefixed("SELECT 1 FROM a"), None);
        let found = OLD.apply(|| prefixed("SELECT 1 FROM a"));
        assert_eq!(found.as_deref(), Some("SELECT 1 FROM old_a AS a"));
        assert!(!is_prefixed());
    }
}
