//! Compares a table on both sides by row count and checksums.

use sql::{Connection, Session};

use super::columns::Layout;
use super::field::{Field, Sums};
use crate::error::StoreError;

pub(crate) fn is_equal(
    layout: &Layout,
    source: &Connection,
    target: &Session,
) -> Result<bool, StoreError> {
    Ok(in_sqlite(layout, source)? == in_postgres(layout, target)?)
}

fn in_sqlite(layout: &Layout, source: &Connection) -> Result<Sums, StoreError> {
    let mut select = source.prepare(&format!("SELECT {} FROM {}", layout.names(), layout.table))?;
    let mut rows = select.query(())?;
    let mut sums = Sums::default();
    while let Some(row) = rows.next()? {
        let mut fields = Vec::with_capacity(layout.columns.len());
        for (number, column) in layout.columns.iter().enumerate() {
            let field = Field::new(row.get_ref(number)?, column.kind);
            fields.push(field.map_err(StoreError::Migration)?);
        }
        sums.add(fields.into_iter());
    }
    Ok(sums)
}

fn in_postgres(layout: &Layout, target: &Session) -> Result<Sums, StoreError> {
    let mut sums = Sums::default();
    let mut unfit = None;
    target.each(&format!("SELECT {} FROM {}", layout.names(), layout.table), |values| {
        let pairs = values.iter().zip(&layout.columns);
        let fields: Result<Vec<_>, _> =
            pairs.map(|(value, column)| Field::new(*value, column.kind)).collect();
        match fields {
            Ok(fields) => sums.add(fields.into_iter()),
            Err(why) => unfit = Some(why),
        }
    })?;
    unfit.map_or(Ok(sums), |why| Err(StoreError::Migration(why)))
}
