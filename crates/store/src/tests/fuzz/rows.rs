//! All rows of a store in a form that is equal on both databases: ids instead of keys, in one
//! order.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::ExperimentUnit;
use sql::{Connection, Row, ValueRef};

use crate::row_keys::{Key, PackedId};

pub(crate) type Tables = BTreeMap<String, Vec<String>>;

pub(crate) type Layout = (String, Vec<String>);

/// Tables without events or their effects.
const LEFT_OUT: [&str; 3] = ["meta", "leases", "cursors"];

pub(crate) fn layouts(sqlite: &Connection) -> sql::Result<Vec<Layout>> {
    let names: Vec<String> = sqlite
        .prepare(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
                 AND name NOT LIKE 'event_words%'
             ORDER BY name",
        )?
        .query_map((), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let wanted = names.into_iter().filter(|name| !LEFT_OUT.contains(&name.as_str()));
    wanted
        .map(|name| {
            let columns = sqlite
                .prepare("SELECT name FROM pragma_table_info(?1)")?
                .query_map([&name], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            Ok((name, columns))
        })
        .collect()
}

/// All rows. Empty tables are omitted.
pub(crate) fn read(connection: &Connection, layouts: &[Layout]) -> sql::Result<Tables> {
    let names = Names::read(connection)?;
    let mut tables = Tables::new();
    // One query for all tables that are usually empty.
    let any =
        |(table, _): &Layout| format!("SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})");
    let any: Vec<String> = layouts.iter().map(any).collect();
    let filled: Vec<String> = connection
        .prepare_cached(&any.join(" UNION ALL "))?
        .query_map((), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for (table, columns) in layouts.iter().filter(|(table, _)| filled.contains(table)) {
        let mut rows: Vec<String> = connection
            .prepare_cached(&format!("SELECT {} FROM {table}", columns.join(", ")))?
            .query_map((), |row| names.tell(row, table, columns))?
            .collect::<Result<_, _>>()?;
        rows.sort_unstable();
        tables.insert(table.clone(), rows);
    }
    Ok(tables)
}

/// The ids of keys.
struct Names {
    projects: HashMap<Key, String>,
    users: HashMap<Key, String>,
    conversations: HashMap<Key, String>,
    turns: HashMap<Key, String>,
    /// True when an experiment's units are users.
    of_users: HashMap<Key, bool>,
}

impl Names {
    fn read(connection: &Connection) -> sql::Result<Self> {
        let read = |sql: &str| -> sql::Result<HashMap<Key, String>> {
            let name = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            connection.prepare_cached(sql)?.query_map((), name)?.collect()
        };
        let of_users = connection
            .prepare_cached("SELECT key, unit FROM experiments")?
            .query_map((), |row| {
                let unit: u8 = row.get(1)?;
                Ok((row.get(0)?, unit == ExperimentUnit::User.code()))
            })?
            .collect::<sql::Result<_>>()?;
        Ok(Self {
            projects: read("SELECT key, tenant || '/' || project FROM projects")?,
            // At most one user per erasure.
            users: read(
                "SELECT key, coalesce(id, 'whom ' || CAST(erased AS TEXT) || ' erased') FROM users",
            )?,
            conversations: read("SELECT key, id FROM conversations")?,
            turns: read("SELECT key, id FROM turns")?,
            of_users,
        })
    }

    fn tell(&self, row: &Row<'_>, table: &str, columns: &[String]) -> sql::Result<String> {
        let mut told = Vec::with_capacity(columns.len());
        for (number, column) in columns.iter().enumerate() {
            let table = table.trim_start_matches("baseline_");
            let names = match (table, column.as_str()) {
                ("users" | "conversations" | "turns" | "projects", "key")
                | ("dead_letters", "number" | "reason") => continue,
                ("keys" | "projects", "project") => None,
                (_, "project") => Some(&self.projects),
                (_, "user") => Some(&self.users),
                (_, "conversation") => Some(&self.conversations),
                (_, "turn" | "detected_in" | "last_turn" | "corrects") => Some(&self.turns),
                ("experiment_units" | "experiment_turns", "unit") => {
                    let experiment = columns.iter().position(|name| name == "experiment");
                    let experiment: Key = row.get(experiment.unwrap())?;
                    let of_users = self.of_users.get(&experiment).copied().unwrap_or_default();
                    Some(if of_users { &self.users } else { &self.conversations })
                }
                _ => None,
            };
            let value = match (names, row.get_ref(number)?) {
                (Some(names), ValueRef::Integer(key)) => {
                    names.get(&key).cloned().unwrap_or_else(|| "unknown".to_owned())
                }
                (_, value) => in_words(row, number, value)?,
            };
            told.push(format!("{column} {value}"));
        }
        Ok(told.join(", "))
    }
}

fn in_words(row: &Row<'_>, number: usize, value: ValueRef<'_>) -> sql::Result<String> {
    Ok(match value {
        ValueRef::Null => "-".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => format!("{number:?}"),
        ValueRef::Text(_) => row.get(number)?,
        // Probably an id; the bytes of a test MAC are all equal.
        ValueRef::Blob(bytes)
            if bytes.len() == 16 && bytes.iter().any(|byte| *byte != bytes[0]) =>
        {
            PackedId::read(row, number)?.unwrap_or_default()
        }
        ValueRef::Blob(bytes) => format!("{bytes:02x?}"),
        ValueRef::Uuid(bytes) => format!("{bytes:02x?}"),
    })
}

pub(crate) fn difference(expected: &Tables, found: &Tables) -> Option<String> {
    let mut told = String::new();
    let (none, all) = (Vec::new(), expected.keys().chain(found.keys()).collect::<BTreeSet<_>>());
    for table in all {
        let [rows, others] = [expected, found].map(|rows| rows.get(table).unwrap_or(&none));
        let lacks = rows.iter().filter(|row| !others.contains(row)).map(|row| ("lacks", row));
        let has = others.iter().filter(|row| !rows.contains(row)).map(|row| ("has", row));
        for (what, row) in lacks.chain(has) {
            told += &format!("{table} {what}: {row}\n");
        }
        if rows.len() != others.len() && told.is_empty() {
            told += &format!("{table} has {} rows, not {}\n", others.len(), rows.len());
        }
    }
    (!told.is_empty()).then_some(told)
}
