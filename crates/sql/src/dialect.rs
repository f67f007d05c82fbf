//! Translates SQLite statements for Postgres.
//!
//! Statements use the common subset of both databases. This module translates the rest: parameters,
//! reserved words and `REPLACE INTO`.

/// Column names that are reserved words in Postgres.
const RESERVED: [&str; 2] = ["user", "both"];

/// The unique columns of tables whose rows are replaced.
const UNIQUE: [(&str, &str); 8] = [
    ("meta", "name"),
    ("turn_facts", "turn"),
    ("baseline_turn_facts", "turn"),
    ("relevance", "project, query, entity"),
    ("baseline_relevance", "project, query, entity"),
    ("deliveries", "position"),
    ("router_states", "project, name"),
    ("router_turns", "turn"),
];

pub(super) fn to_postgres(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len() + 32);
    let mut rest = sql;
    let mut unnumbered = 0;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '\'' => rest[1..].find('\'').map_or(rest.len(), |at| at + 2),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '?' => {
                let digits = rest[1..].chars().take_while(char::is_ascii_digit).count();
                if digits == 0 {
                    unnumbered += 1;
                    out.push_str(&format!("${unnumbered}"));
                } else {
                    out.push_str(&format!("${}", &rest[1..=digits]));
                }
                rest = &rest[1 + digits..];
                continue;
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let inside = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
                let word = &rest[..rest.chars().take_while(inside).count()];
                if word == "INDEXED" {
                    // An index hint for SQLite's planner.
                    let hint: usize =
                        rest.split_inclusive(char::is_whitespace).take(3).map(str::len).sum();
                    rest = &rest[hint..];
                    continue;
                }
                if RESERVED.contains(&word) {
                    out.push_str(&format!("\"{word}\""));
                    rest = &rest[word.len()..];
                    continue;
                }
                word.len()
            }
            c => c.len_utf8(),
        };
        out.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    match out.trim_start().strip_prefix("REPLACE INTO ") {
        Some(what) => insert_or_replace(what),
        None => out,
    }
}

fn insert_or_replace(what: &str) -> String {
    let (table, columns) = what.split_once('(').unwrap_or((what, ""));
    let columns = columns.split_once(')').map_or("", |(columns, _)| columns);
    let unique = UNIQUE.iter().find(|(name, _)| *name == table.trim()).map_or("", |(_, u)| u);
    let set: Vec<String> = columns
        .split(',')
        .map(str::trim)
        .filter(|column| !unique.split(", ").any(|part| part == *column))
        .map(|column| format!("{column} = excluded.{column}"))
        .collect();
    format!("INSERT INTO {what} ON CONFLICT ({unique}) DO UPDATE SET {}", set.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_differences_are_translated() {
        let rows = [
            (
                "SELECT a FROM t WHERE b = ?1 AND c = ?12",
                "SELECT a FROM t WHERE b = $1 AND c = $12",
            ),
            ("SELECT ?, ?", "SELECT $1, $2"),
            (
                "SELECT r.user, users.id, 'user ?1' FROM r",
                "SELECT r.\"user\", users.id, 'user ?1' FROM r",
            ),
            ("SELECT t FROM f INDEXED BY by_time WHERE x", "SELECT t FROM f WHERE x"),
            (
                "REPLACE INTO meta (name, value) VALUES (?1, 1)",
                "INSERT INTO meta (name, value) VALUES ($1, 1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            ),
            ("SELECT both FROM t -- user ?", "SELECT \"both\" FROM t -- user ?"),
        ];
        for (sqlite, postgres) in rows {
            assert_eq!(to_postgres(sqlite), postgres);
        }
    }
}
