//! Streams rows of both databases. No table is held in memory.

use std::ops::ControlFlow;

use sql::{Connection, Row, ToSql, ValueRef};

use crate::error::StoreError;

/// Rows that Postgres returns at once.
const PAGE_ROWS: usize = 2000;

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cell {
    Null,
    Integer(i64),
    /// The bits of a float: equal means identical.
    Real(u64),
    Text(String),
    Blob(Vec<u8>),
}

impl From<ValueRef<'_>> for Cell {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number.to_bits()),
            ValueRef::Text(text) => Self::Text(text.to_owned()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_owned()),
            ValueRef::Uuid(bytes) => Self::Blob(bytes.to_vec()),
        }
    }
}

impl ToSql for Cell {
    fn to_sql(&self) -> ValueRef<'_> {
        match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(bits) => ValueRef::Real(f64::from_bits(*bits)),
            Self::Text(text) => ValueRef::Text(text),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }
    }
}

/// Passes each row to `each`, until it breaks. A snapshot must be open.
pub(super) fn for_each_row(
    reader: &Connection,
    select: &str,
    mut each: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, StoreError>,
) -> Result<(), StoreError> {
    if reader.sqlite().is_some() {
        read_page(reader, select, &mut each)?;
        return Ok(());
    }
    // A plain query would return all rows at once.
    reader.execute_batch(&format!("DECLARE rows_to_compare NO SCROLL CURSOR FOR {select}"))?;
    let fetch = format!("FETCH {PAGE_ROWS} FROM rows_to_compare");
    while read_page(reader, &fetch, &mut each)? == PAGE_ROWS {}
    Ok(reader.execute_batch("CLOSE rows_to_compare")?)
}

/// Returns the number of rows, or 0 after a break.
fn read_page(
    reader: &Connection,
    select: &str,
    each: &mut impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, StoreError>,
) -> Result<usize, StoreError> {
    let mut select = reader.prepare(select)?;
    let mut rows = select.query(())?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        count += 1;
        if each(&row)?.is_break() {
            return Ok(0);
        }
    }
    Ok(count)
}
