//! The columns of a table, which must match on both sides.

use sql::{Connection, Session};

use super::tables::Table;
use crate::error::StoreError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    Real,
    Text,
    Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) is_identity: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) table: Table,
    pub(crate) columns: Vec<Column>,
}

impl Layout {
    /// Reads the columns, which must match on both sides.
    pub(crate) fn read(
        table: &Table,
        source: &Connection,
        target: &Session,
    ) -> Result<Self, StoreError> {
        let columns = in_postgres(table, target)?;
        let mut ours: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let theirs: Vec<String> =
            source.read_rows("SELECT name FROM pragma_table_info(?1)", [&table.name])?;
        let mut theirs: Vec<&str> = theirs.iter().map(String::as_str).collect();
        ours.sort_unstable();
        theirs.sort_unstable();
        if ours != theirs || ours.is_empty() {
            let why = format!(
                "the table {table} has the columns {theirs:?} in SQLite and {ours:?} in Postgres"
            );
            return Err(StoreError::Migration(why));
        }
        Ok(Self { table: table.clone(), columns })
    }

    /// The column names, quoted for both databases.
    pub(crate) fn names(&self) -> String {
        let quoted = self.columns.iter().map(|column| format!("\"{}\"", column.name));
        quoted.collect::<Vec<_>>().join(", ")
    }

    /// The number of rows in SQLite.
    pub(crate) fn count_in(&self, source: &Connection) -> Result<u64, StoreError> {
        let count = format!("SELECT count(*) FROM {}", self.table);
        let count: i64 = source.query_row(&count, (), |row| row.get(0))?;
        Ok(count as u64)
    }
}

fn in_postgres(table: &Table, target: &Session) -> Result<Vec<Column>, StoreError> {
    let select = "SELECT CAST(column_name AS TEXT), CAST(data_type AS TEXT), is_identity = 'YES'
        FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = ?1 ORDER BY ordinal_position";
    let found = target.prepare(select)?.query(&[sql::ValueRef::Text(&table.name)])?;
    found
        .iter()
        .map(|row| {
            let (name, kind): (String, String) = (row.get(0), row.get(1));
            let kind = match kind.as_str() {
                "bigint" => Kind::Integer,
                "double precision" => Kind::Real,
                "text" => Kind::Text,
                "bytea" => Kind::Bytes,
                other => {
                    let why = format!("the column {name} of {table} is a {other} in Postgres");
                    return Err(StoreError::Migration(why));
                }
            };
            Ok(Column { name, kind, is_identity: row.get(2) })
        })
        .collect()
}
