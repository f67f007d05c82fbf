//! Queued statements, and batches of rows for one table.

use std::mem::take;

use tokio_postgres::Statement;

use super::super::error::Result;
use super::super::params::RowBatch;
use super::super::value::Value;
use super::merged_rows::{MergedRows, RowsStatement};

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
    prepare: impl Fn(&str) -> Result<Statement>,
) -> Result<Vec<Pending>> {
    let mut sent = Vec::with_capacity(pending.len());
    let mut stretch = Stretch::default();
    for one in pending {
        match one {
            Pending::Statement { statement, together: Some(RowBatch::Part(part)), values } => {
                stretch.merged.add(part, &statement, values);
                stretch.has_rows = true;
            }
            Pending::Statement { statement, together: Some(RowBatch::Each(many)), values } => {
                stretch.add_row(statement, many, values);
            }
            Pending::Batch(_) if stretch.is_empty() => sent.push(one),
            Pending::Batch(_) | Pending::Statement { .. } | Pending::Rows(..) => {
                stretch.rest.push(one);
            }
            Pending::InOrder => stretch.send(&mut sent, &prepare)?,
        }
    }
    stretch.send(&mut sent, &prepare)?;
    Ok(sent)
}

/// Statements between two fences.
#[derive(Default)]
struct Stretch {
    has_rows: bool,
    merged: MergedRows,
    tables: Vec<Table>,
    rest: Vec<Pending>,
}

impl Stretch {
    fn is_empty(&self) -> bool {
        !self.has_rows && self.rest.is_empty()
    }

    fn add_row(&mut self, statement: Statement, many: &'static str, values: Vec<Value>) {
        self.has_rows = true;
        match self.tables.iter_mut().find(|table| table.many == many) {
            Some(table) => table.rows.push(values),
            None => self.tables.push(Table { statement, many, rows: vec![values] }),
        }
    }

    /// New rows come first, because others refer to them.
    fn send(
        &mut self,
        sent: &mut Vec<Pending>,
        prepare: &impl Fn(&str) -> Result<Statement>,
    ) -> Result<()> {
        for RowsStatement { sql, columns } in self.merged.take_statements().into_iter().flatten() {
            sent.push(Pending::Rows(prepare(&sql)?, columns));
        }
        for table in take(&mut self.tables) {
            sent.push(table.into_pending(prepare)?);
        }
        sent.append(&mut self.rest);
        self.has_rows = false;
        Ok(())
    }
}

struct Table {
    /// For one row.
    statement: Statement,
    many: &'static str,
    rows: Vec<Vec<Value>>,
}

impl Table {
    fn into_pending(mut self, prepare: impl Fn(&str) -> Result<Statement>) -> Result<Pending> {
        Ok(match &mut self.rows[..] {
            [only] => {
                Pending::Statement { statement: self.statement, together: None, values: take(only) }
            }
            rows => Pending::Rows(prepare(self.many)?, transpose(rows)),
        })
    }
}

fn transpose(rows: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let width = rows.first().map_or(0, Vec::len);
    (0..width).map(|at| rows.iter().map(|row| row[at].clone()).collect()).collect()
}
