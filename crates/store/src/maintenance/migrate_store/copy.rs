//! Copies one table in batches, each with its progress in one transaction.

use bytes::{BufMut, BytesMut};
use sql::{Connection, Row};

use super::columns::Layout;
use super::field::Field;
use super::target::Target;
use crate::error::StoreError;

/// Ends a batch early when its rows are long, to bound memory.
const BATCH_BYTES: usize = 4 << 20;

/// The header and trailer of binary `COPY`.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const END: i16 = -1;

/// Copies the missing rows. `on_batch` is called after each batch.
pub(crate) fn copy(
    layout: &Layout,
    source: &Connection,
    target: &mut Target,
    batch: usize,
    mut told: impl FnMut(u64),
) -> Result<(), StoreError> {
    let (table, names) = (&layout.table, layout.names());
    // The source has no writer, so the row order is the same as in an earlier run.
    let skip = target.copied_rows(table)?;
    let mut select = source.prepare(&format!(
        "SELECT {names} FROM {table} ORDER BY {} LIMIT -1 OFFSET ?1",
        table.order
    ))?;
    let mut rows = select.query([skip as i64])?;
    let mut pending = Batch::default();
    while let Some(row) = rows.next()? {
        pending.add(layout, &row)?;
        if pending.rows as usize >= batch.max(1) || pending.bytes.len() >= BATCH_BYTES {
            told(pending.rows);
            pending.send(layout, &names, target)?;
        }
    }
    told(pending.rows);
    pending.send(layout, &names, target)
}

#[derive(Default)]
struct Batch {
    rows: u64,
    bytes: BytesMut,
}

impl Batch {
    fn add(&mut self, layout: &Layout, row: &Row<'_>) -> Result<(), StoreError> {
        if self.rows == 0 {
            self.bytes.put_slice(HEADER);
        }
        self.bytes.put_i16(layout.columns.len() as i16);
        for (number, column) in layout.columns.iter().enumerate() {
            let unfit = |why: String| {
                let (table, name) = (&layout.table, &column.name);
                StoreError::Migration(format!("the column {name} of {table} holds {why}"))
            };
            let field = Field::new(row.get_ref(number)?, column.kind).map_err(unfit)?;
            field.write(&mut self.bytes).map_err(unfit)?;
        }
        self.rows += 1;
        Ok(())
    }

    fn send(
        &mut self,
        layout: &Layout,
        names: &str,
        target: &mut Target,
    ) -> Result<(), StoreError> {
        if self.rows == 0 {
            return Ok(());
        }
        self.bytes.put_i16(END);
        let bytes = std::mem::take(&mut self.bytes).freeze();
        let rows = std::mem::take(&mut self.rows);
        target.add(&layout.table, names, rows, bytes)
    }
}
