//! Queued statements, and batches of rows for one table.

use std::mem::take;

use tokio_postgres::Statement;

use super::super::error::Result;
use super::super::params::RowBatch;
use super::super::value::Value;

pub(super) enum Pending {
    Batch(&'static str),
    Statement {
        statement: Statement,
        /// Set for a row that can be batched with others of its table.
        together: Option<RowBatch>,
        values: Vec<Value>,
    },
    /// Batched rows, as one array per column.
    Rows(Statement, Vec<Vec<Value>>),
    /// Rows after this fence are not sent before statements in front of it.
    InOrder,
}

/// Batches rows of one table into one statement. Batches follow the start of the transaction and
/// precede all other statements, in the order of their first row.
pub(super) fn group_rows(
    pending: Vec<Pending>,
    prepare: impl Fn(&'static str) -> Result<Statement>,
) -> Result<Vec<Pending>> {
    let mut group_rows = Vec::with_capacity(pending.len());
    let (mut tables, mut rest): (Vec<Table>, Vec<Pending>) = (Vec::new(), Vec::new());
    for one in pending {
        match one {
            Pending::Statement { statement, together: Some(together), values } => {
                match tables.iter_mut().find(|table| table.together == together) {
                    Some(table) => table.rows.push(values),
                    None => tables.push(Table { statement, together, rows: vec![values] }),
                }
            }
            Pending::Batch(_) if rest.is_empty() && tables.is_empty() => group_rows.push(one),
            Pending::Batch(_) | Pending::Statement { .. } | Pending::Rows(..) => rest.push(one),
            Pending::InOrder => put_together(&mut group_rows, &mut tables, &mut rest, &prepare)?,
        }
    }
    put_together(&mut group_rows, &mut tables, &mut rest, &prepare)?;
    Ok(group_rows)
}

fn put_together(
    group_rows: &mut Vec<Pending>,
    tables: &mut Vec<Table>,
    rest: &mut Vec<Pending>,
    prepare: &impl Fn(&'static str) -> Result<Statement>,
) -> Result<()> {
    tables.sort_by_key(|table| match table.together {
        RowBatch::New(_) => 0,
        RowBatch::First(_) => 1,
        RowBatch::Each(_) => 2,
    });
    for table in take(tables) {
        group_rows.push(table.into_pending(prepare)?);
    }
    group_rows.append(rest);
    Ok(())
}

struct Table {
    statement: Statement,
    together: RowBatch,
    rows: Vec<Vec<Value>>,
}

impl Table {
    fn into_pending(
        mut self,
        prepare: impl Fn(&'static str) -> Result<Statement>,
    ) -> Result<Pending> {
        let (RowBatch::New(many) | RowBatch::First(many) | RowBatch::Each(many)) = self.together;
        Ok(match &mut self.rows[..] {
            [only] => {
                Pending::Statement { statement: self.statement, together: None, values: take(only) }
            }
            rows => Pending::Rows(prepare(many)?, transpose(rows)),
        })
    }
}

fn transpose(rows: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let width = rows.first().map_or(0, Vec::len);
    (0..width).map(|at| rows.iter().map(|row| row[at].clone()).collect()).collect()
}
