//! Replaces the rows that differ, while the log is held.

use std::ops::ControlFlow;

use sql::Connection;

use crate::error::StoreError;
use crate::maintenance::rebuild::compare::{Difference, compare};
use crate::maintenance::rebuild::layout::{Layout, Parameter};
use crate::maintenance::rebuild::replay::Replay;
use crate::maintenance::rebuild::rows::Cell;
use crate::maintenance::rebuild::scratch::NewId;
use crate::maintenance::rebuild::{Instructions, settle_in};
use crate::row_keys::resolve_key;

/// Statements that Postgres receives together.
const PENDING_STATEMENTS: usize = 1000;

pub(super) enum Repair {
    /// With the number of replayed events.
    Done(u64),
    /// The replayed events changed since.
    Outdated,
}

pub(super) fn repair(
    connection: &mut Connection,
    mut replay: Replay,
    how: &Instructions,
) -> Result<Repair, StoreError> {
    let transaction = connection.transaction()?;
    // From here on no other write is committed.
    transaction.flush()?;
    #[cfg(feature = "scaled")]
    if let Some(session) = transaction.postgres() {
        // It waits while tables are compared, which may take longer than the limit.
        session.raw_batch("SET LOCAL idle_in_transaction_session_timeout = 0")?;
    }
    let is_current = replay.follow(how)?.is_some();
    if !is_current || !replay.new_ids.is_empty() {
        create_in(&transaction, &replay.new_ids)?;
        transaction.commit()?;
        return Ok(Repair::Outdated);
    }
    for layout in &replay.layouts {
        let table = RepairedTable { store: &transaction, layout, replay: &replay };
        if layout.table == "turns" { table.fill_turns()? } else { table.replace_rows()? }
    }
    settle_in(&transaction)?;
    transaction.commit()?;
    Ok(Repair::Done(replay.events))
}

/// Creates keys of ids that the replay names.
pub(super) fn create_ids(connection: &mut Connection, ids: &[NewId]) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    create_in(&transaction, ids)?;
    Ok(transaction.commit()?)
}

fn create_in(connection: &Connection, ids: &[NewId]) -> Result<(), StoreError> {
    for NewId { table, project, id } in ids {
        // The project may have been removed.
        if connection.exists("SELECT 1 FROM projects WHERE key = ?1", [*project])? {
            resolve_key(connection, *table, *project, id)?;
        }
    }
    Ok(())
}

/// A projection whose rows are read in a snapshot and written in the transaction.
struct RepairedTable<'a> {
    store: &'a Connection,
    layout: &'a Layout,
    replay: &'a Replay,
}

impl RepairedTable<'_> {
    /// Deletes before it inserts, because rows have further unique columns. Rows are written one by
    /// one, so that the similarity index receives each change.
    fn replace_rows(&self) -> Result<(), StoreError> {
        let (delete, insert) = (self.layout.delete(), self.layout.insert());
        let differs = self.each_difference(
            |difference| match difference {
                Difference::Missing(_) => None,
                Difference::Extra(row) | Difference::Unequal(row) => Some((delete.as_str(), row)),
            },
            Layout::key_parameters,
        )?;
        if differs {
            self.each_difference(
                |difference| match difference {
                    Difference::Missing(row) | Difference::Unequal(row) => {
                        Some((insert.as_str(), row))
                    }
                    Difference::Extra(_) => None,
                },
                Layout::parameters,
            )?;
        }
        Ok(())
    }

    /// Rows of `turns` stay, because other rows refer to them.
    fn fill_turns(&self) -> Result<(), StoreError> {
        let update = self.layout.update();
        self.each_difference(
            |difference| match difference {
                Difference::Unequal(row) => Some((update.as_str(), row)),
                Difference::Missing(_) | Difference::Extra(_) => None,
            },
            Layout::update_parameters,
        )
        .map(drop)
    }

    /// Runs a statement for each difference. Returns true when there was one.
    fn each_difference<'s>(
        &self,
        statement: impl Fn(Difference) -> Option<(&'s str, Vec<Cell>)>,
        parameters: impl for<'r> Fn(&Layout, &'r [Cell]) -> Vec<Parameter<'r>>,
    ) -> Result<bool, StoreError> {
        let (mut differs, mut pending) = (false, 0);
        let Self { store, layout, replay } = *self;
        compare(layout, &replay.reader, &replay.scratches, |difference| {
            differs = true;
            if let Some((sql, row)) = statement(difference) {
                store.run(sql, parameters(layout, &row))?;
                pending += 1;
                if pending % PENDING_STATEMENTS == 0 {
                    store.flush()?;
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        store.flush()?;
        Ok(differs)
    }
}
