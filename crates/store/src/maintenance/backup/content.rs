//! A summary of a database: row counts per table and a hash over all rows.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// Row counts by table.
pub(crate) type Counts = BTreeMap<String, u64>;

/// Tables sorted by name, including the tables of the word index.
fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
                 AND sql NOT LIKE 'CREATE VIRTUAL %'
             ORDER BY name",
        )?
        .query_map((), |row| row.get(0))?
        .collect()
}

/// Counts the rows of each table, without the backup's own note.
pub(crate) fn count(connection: &Connection) -> rusqlite::Result<Counts> {
    let mut counts = Counts::new();
    for table in tables(connection)? {
        let sql = format!("SELECT count(*) FROM \"{table}\" {}", but_the_note(&table));
        let rows: i64 = connection.query_row(&sql, (), |row| row.get(0))?;
        counts.insert(table, rows.cast_unsigned());
    }
    Ok(counts)
}

/// Hashes the schema and every value of every row, in storage order. `on_row` is called for each row.
pub(crate) fn digest(
    connection: &Connection,
    mut told: impl FnMut(),
) -> rusqlite::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    let schema = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name";
    absorb(connection, schema, &mut hasher, || {})?;
    for table in tables(connection)? {
        // By the table itself, because an index may have another order and is checked separately.
        let sql = format!("SELECT * FROM \"{table}\" NOT INDEXED {}", but_the_note(&table));
        absorb(connection, &sql, &mut hasher, &mut told)?;
    }
    Ok(hasher.finalize())
}

fn but_the_note(table: &str) -> String {
    match table {
        "meta" => format!("WHERE name <> '{}'", super::note::NAME),
        _ => String::new(),
    }
}

fn absorb(
    connection: &Connection,
    sql: &str,
    hasher: &mut blake3::Hasher,
    mut told: impl FnMut(),
) -> rusqlite::Result<()> {
    let mut select = connection.prepare(sql)?;
    let columns = select.column_count();
    let mut rows = select.query(())?;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            match row.get_ref(column)? {
                ValueRef::Null => hasher.update(&[0]),
                ValueRef::Integer(number) => hasher.update(&[1]).update(&number.to_be_bytes()),
                ValueRef::Real(number) => hasher.update(&[2]).update(&number.to_be_bytes()),
                ValueRef::Text(bytes) => sized(hasher, 3, bytes),
                ValueRef::Blob(bytes) => sized(hasher, 4, bytes),
            };
        }
        told();
    }
    hasher.update(&[5]);
    Ok(())
}

fn sized<'h>(hasher: &'h mut blake3::Hasher, kind: u8, bytes: &[u8]) -> &'h mut blake3::Hasher {
    hasher.update(&[kind]).update(&(bytes.len() as u64).to_be_bytes()).update(bytes)
}
