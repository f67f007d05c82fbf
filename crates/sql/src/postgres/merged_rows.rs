//! Rows that a transaction writes in several parts, each sent once in its last state.

use std::collections::{BTreeMap, HashMap};

use tokio_postgres::Statement;

use super::super::params::RowPart;
use super::super::value::Value;

/// Merged rows by table and key.
#[derive(Default)]
pub(super) struct MergedRows {
    tables: Vec<MergedTable>,
}

struct MergedTable {
    name: &'static str,
    key: &'static str,
    rows: Vec<MergedRow>,
    by_key: HashMap<i64, usize>,
}

struct MergedRow {
    is_new: bool,
    columns: Columns,
}

/// The Postgres type and value of each column.
type Columns = BTreeMap<&'static str, (String, Value)>;

/// One statement that writes many rows, one array per column.
#[derive(Debug, PartialEq)]
pub(super) struct RowsStatement {
    pub(super) sql: String,
    pub(super) columns: Vec<Vec<Value>>,
}

impl MergedRows {
    /// Adds a part of a row. Later values replace earlier ones.
    pub(super) fn add(&mut self, part: RowPart, statement: &Statement, values: Vec<Value>) {
        let types = statement.params().iter().map(|of| of.name().to_owned());
        self.add_typed(part, types.zip(values));
    }

    fn add_typed(&mut self, part: RowPart, values: impl Iterator<Item = (String, Value)>) {
        let columns: Columns = part.columns.iter().copied().zip(values).collect();
        let Some(&key) = part.columns.first() else { return };
        let Some((_, Value::Integer(number))) = columns.get(key) else { return };
        let number = *number;
        let at = self.tables.iter().position(|table| table.name == part.table);
        let at = at.unwrap_or_else(|| {
            let (rows, by_key) = (Vec::new(), HashMap::new());
            self.tables.push(MergedTable { name: part.table, key, rows, by_key });
            self.tables.len() - 1
        });
        let table = &mut self.tables[at];
        let row = *table.by_key.entry(number).or_insert_with(|| {
            table.rows.push(MergedRow { is_new: part.is_new, columns: Columns::new() });
            table.rows.len() - 1
        });
        table.rows[row].columns.extend(columns);
    }

    /// Takes the statements for the new rows, and for the others.
    pub(super) fn take_statements(&mut self) -> [Vec<RowsStatement>; 2] {
        let tables = std::mem::take(&mut self.tables);
        let mut statements = [Vec::new(), Vec::new()];
        for MergedTable { name, key, rows, .. } in tables {
            // Rows with the same columns share a statement.
            let mut alike: Vec<(bool, Vec<Columns>)> = Vec::new();
            for MergedRow { is_new, columns } in rows {
                let same = alike.iter_mut().find(|(are_new, rows)| {
                    *are_new == is_new && rows.iter().all(|row| row.keys().eq(columns.keys()))
                });
                match same {
                    Some((_, rows)) => rows.push(columns),
                    None => alike.push((is_new, vec![columns])),
                }
            }
            for (are_new, rows) in alike {
                statements[usize::from(!are_new)].push(write_rows(name, key, are_new, rows));
            }
        }
        statements
    }
}

fn write_rows(table: &str, key: &str, are_new: bool, rows: Vec<Columns>) -> RowsStatement {
    let names: Vec<&str> = rows.first().into_iter().flat_map(BTreeMap::keys).copied().collect();
    let types = rows.first().into_iter().flat_map(BTreeMap::values).map(|(of, _)| of);
    let arrays = types.zip(1..).map(|(of, number)| format!("${number}::{of}[]"));
    let arrays = arrays.collect::<Vec<_>>().join(", ");
    let all = names.join(", ");
    let sql = if are_new {
        format!("INSERT INTO {table} ({all}) SELECT * FROM unnest({arrays})")
    } else {
        let set = names.iter().filter(|name| **name != key);
        let set = set.map(|name| format!("{name} = given.{name}")).collect::<Vec<_>>().join(", ");
        format!(
            "UPDATE {table} SET {set} FROM unnest({arrays}) AS given ({all})
             WHERE {table}.{key} = given.{key}"
        )
    };
    let mut columns: Vec<Vec<Value>> = names.iter().map(|_| Vec::new()).collect();
    for row in rows {
        for (column, (_, value)) in columns.iter_mut().zip(row.into_values()) {
            column.push(value);
        }
    }
    RowsStatement { sql, columns }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: RowPart = RowPart { table: "turns", is_new: true, columns: &["key", "id"] };
    const OPENED: RowPart = RowPart { table: "turns", is_new: false, columns: &["key", "ts"] };

    fn add(rows: &mut MergedRows, part: RowPart, key: i64, value: i64) {
        let values = [key, value].map(|number| ("int8".to_owned(), Value::Integer(number)));
        rows.add_typed(part, values.into_iter());
    }

    fn numbers(numbers: &[i64]) -> Vec<Value> {
        numbers.iter().copied().map(Value::Integer).collect()
    }

    #[test]
    fn parts_of_a_row_are_written_once_with_the_last_values() {
        let mut rows = MergedRows::default();
        add(&mut rows, NEW, 1, 10);
        add(&mut rows, OPENED, 2, 20);
        add(&mut rows, OPENED, 1, 30);
        add(&mut rows, OPENED, 2, 40);
        let [new, changed] = rows.take_statements();
        let insert = "INSERT INTO turns (id, key, ts) \
                      SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[])";
        let columns = vec![numbers(&[10]), numbers(&[1]), numbers(&[30])];
        assert_eq!(new, [RowsStatement { sql: insert.into(), columns }]);
        let [changed] = &changed[..] else { panic!("{changed:?}") };
        assert!(
            changed.sql.starts_with("UPDATE turns SET ts = given.ts FROM unnest"),
            "{changed:?}"
        );
        assert_eq!(changed.columns, [numbers(&[2]), numbers(&[40])]);
        assert_eq!(rows.take_statements(), [vec![], vec![]]);
    }

    #[test]
    fn rows_with_the_same_columns_share_a_statement() {
        let mut rows = MergedRows::default();
        for key in 1..=3 {
            add(&mut rows, NEW, key, 10 * key);
        }
        add(&mut rows, OPENED, 3, 7);
        let [new, changed] = rows.take_statements();
        assert_eq!(new.iter().map(|one| one.columns.len()).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(new[0].columns, [numbers(&[10, 20]), numbers(&[1, 2])]);
        assert!(changed.is_empty());
    }
}
