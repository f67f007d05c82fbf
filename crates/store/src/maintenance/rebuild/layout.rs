//! The columns of the projections, and a row order that is the same on both databases.

use sql::{Connection, Row, ValueRef};

use crate::maintenance::rebuild::rows::Cell;
use crate::projections::PROJECTIONS;
use crate::row_keys::PackedId;

/// Columns with ids, which are 16 bytes in SQLite and text in Postgres.
const PACKED_IDS: [(&str, &str); 3] =
    [("reactions", "event"), ("decisions", "id"), ("early_outcomes", "id")];

/// The text of an id in SQLite.
const ID_TEXT: &str = "CASE typeof(id) WHEN 'blob' THEN lower(substr(hex(id), 1, 8) || '-'
    || substr(hex(id), 9, 4) || '-' || substr(hex(id), 13, 4) || '-' || substr(hex(id), 17, 4)
    || '-' || substr(hex(id), 21)) ELSE id END";

#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) table: &'static str,
    pub(super) columns: Vec<String>,
    /// The columns of the unique key, in the row order.
    pub(super) keys: Vec<usize>,
    /// True for columns of ids.
    packed: Vec<bool>,
}

impl Layout {
    /// The projections, by the columns of a SQLite database.
    pub(super) fn read_all(scratch: &Connection) -> sql::Result<Vec<Self>> {
        PROJECTIONS
            .into_iter()
            .map(|(table, order)| {
                let select = "SELECT name FROM pragma_table_info(?1)";
                let columns: Vec<String> = scratch.read_rows(select, [table])?;
                let place = |key: &str| columns.iter().position(|column| column == key);
                let keys = order.split(", ").filter_map(place).collect();
                let is_packed = |column: &String| PACKED_IDS.contains(&(table, column.as_str()));
                let packed = columns.iter().map(is_packed).collect();
                Ok(Self { table, columns, keys, packed })
            })
            .collect()
    }

    pub(super) fn names(&self) -> String {
        self.columns.join(", ")
    }

    /// Selects all rows in order. `rows` is the table, or another source of its rows.
    pub(super) fn select(&self, connection: &Connection, condition: &str) -> String {
        let is_sqlite = connection.sqlite().is_some();
        let order = self.keys.iter().map(|key| match self.columns[*key].as_str() {
            _ if self.packed[*key] && is_sqlite => ID_TEXT,
            column => column,
        });
        let order: Vec<&str> = order.collect();
        let (names, table) = (self.names(), self.table);
        format!("SELECT {names} FROM {table} WHERE {condition} ORDER BY {}", order.join(", "))
    }

    /// Reads a row of [`Self::select`]. Ids are read as text.
    pub(super) fn cells(&self, row: &Row<'_>) -> sql::Result<Vec<Cell>> {
        let cell = |(number, is_packed): (usize, &bool)| {
            let value = row.get_ref(number)?;
            if *is_packed && matches!(value, ValueRef::Blob(_)) {
                return Ok(PackedId::read(row, number)?.map_or(Cell::Null, Cell::Text));
            }
            Ok(Cell::from(value))
        };
        self.packed.iter().enumerate().map(cell).collect()
    }

    /// A cell as it is stored.
    pub(super) fn parameter<'a>(&self, column: usize, cell: &'a Cell) -> Parameter<'a> {
        match cell {
            Cell::Text(id) if self.packed[column] => Parameter::Id(PackedId::pack(id)),
            Cell::Null | Cell::Integer(_) | Cell::Real(_) | Cell::Text(_) | Cell::Blob(_) => {
                Parameter::Cell(cell)
            }
        }
    }

    pub(super) fn parameters<'a>(&self, row: &'a [Cell]) -> Vec<Parameter<'a>> {
        row.iter().enumerate().map(|(column, cell)| self.parameter(column, cell)).collect()
    }

    pub(super) fn key_parameters<'a>(&self, row: &'a [Cell]) -> Vec<Parameter<'a>> {
        self.keys.iter().map(|key| self.parameter(*key, &row[*key])).collect()
    }

    /// The parameters of [`Self::update`].
    pub(super) fn update_parameters<'a>(&self, row: &'a [Cell]) -> Vec<Parameter<'a>> {
        let mut parameters = self.parameters(row);
        parameters.extend(self.key_parameters(row));
        parameters
    }

    /// The values of the unique key.
    pub(super) fn key<'a>(&self, row: &'a [Cell]) -> Vec<&'a Cell> {
        self.keys.iter().map(|key| &row[*key]).collect()
    }

    pub(super) fn insert(&self) -> String {
        let values: Vec<String> = (1..=self.columns.len()).map(|n| format!("?{n}")).collect();
        format!("INSERT INTO {} ({}) VALUES ({})", self.table, self.names(), values.join(", "))
    }

    /// Deletes the row with a key.
    pub(super) fn delete(&self) -> String {
        format!("DELETE FROM {} WHERE {}", self.table, self.has_key(1))
    }

    /// Overwrites a row. The key follows the other parameters.
    pub(super) fn update(&self) -> String {
        let set =
            self.columns.iter().enumerate().map(|(n, column)| format!("{column} = ?{}", n + 1));
        let set: Vec<String> = set.collect();
        let key = self.has_key(self.columns.len() + 1);
        format!("UPDATE {} SET {} WHERE {key}", self.table, set.join(", "))
    }

    /// Compares the key with parameters from a number on.
    fn has_key(&self, from: usize) -> String {
        let equal = self.keys.iter().enumerate();
        let equal = equal.map(|(n, key)| format!("{} = ?{}", self.columns[*key], from + n));
        equal.collect::<Vec<_>>().join(" AND ")
    }
}

/// A parameter of a statement.
pub(super) enum Parameter<'a> {
    Cell(&'a Cell),
    Id(PackedId),
}

impl sql::ToSql for Parameter<'_> {
    fn to_sql(&self) -> ValueRef<'_> {
        match self {
            Self::Cell(cell) => cell.to_sql(),
            Self::Id(id) => id.to_sql(),
        }
    }
}
