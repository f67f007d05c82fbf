//! Copies of turn logs, and the progress of the mirror.

use model::{Position, Scope, TurnId};
use sql::Connection;

use crate::error::{StoreError, Task};
use crate::queries::leases::{self, Lease};
use crate::row_keys::{Key, Table, find_project, find_scoped_key, read_project_scope};
use crate::store::Store;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnLogCopy {
    pub scope: Scope,
    pub turn: TurnId,
    pub hosted_uri: String,
    /// The document, when it is stored in the database.
    pub document: Option<String>,
}

/// A turn whose copy must be made again or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueCopy {
    pub scope: Scope,
    pub turn: TurnId,
    /// The position of the last erasure that affects the turn. A later erasure makes it due again.
    pub erased: Position,
}

impl Store {
    /// The progress of the mirror to a location.
    pub fn mirror_position(&self, place: &str) -> Task<'_, Position> {
        let cursor = format!("{CURSOR}{place}");
        self.pool.run(move |connection| {
            let select = "SELECT position FROM cursors WHERE name = ?1";
            let position: Option<i64> = connection.find_row(select, [cursor])?;
            Ok(Position(position.unwrap_or(0) as u64))
        })
    }

    /// Stores new copies and the mirror's progress. When another node has the lease, the copies
    /// become due instead.
    pub fn note_copies(
        &self,
        place: &str,
        copies: Vec<TurnLogCopy>,
        upto: Position,
        lease: Option<Lease>,
    ) -> Task<'_, ()> {
        let cursor = format!("{CURSOR}{place}");
        Box::pin(self.writer.run(move |connection| {
            let transaction = connection.transaction()?;
            if leases::is_held(&transaction, lease.as_ref())? {
                put(&transaction, &copies)?;
                transaction.execute_cached(
                    "INSERT INTO cursors (name, position) VALUES (?1, ?2)
                     ON CONFLICT (name) DO UPDATE SET position = excluded.position",
                    (cursor, upto.0 as i64),
                )?;
            } else {
                make_due(&transaction, copies.iter().map(|copy| (&copy.scope, &copy.turn)))?;
            }
            Ok(transaction.commit()?)
        }))
    }

    /// Deletes all copies and the mirror's progress.
    pub fn forget_copies(&self) -> Task<'_, ()> {
        Box::pin(self.writer.run(|connection| {
            let transaction = connection.transaction()?;
            transaction.execute("DELETE FROM turn_logs", ())?;
            let cursors = "DELETE FROM cursors WHERE substr(name, 1, ?2) = ?1";
            transaction.execute(cursors, (CURSOR, CURSOR.len() as i64))?;
            Ok(transaction.commit()?)
        }))
    }

    /// Turns of erased users whose copies must be made again or deleted, of one scope or of all.
    pub fn copies_due(&self, scope: Option<Scope>, limit: usize) -> Task<'_, Vec<DueCopy>> {
        self.pool.run_short(move |connection| {
            let project = match &scope {
                Some(scope) => match find_project(connection, scope)? {
                    Some(project) => Some(project),
                    None => return Ok(Vec::new()),
                },
                None => None,
            };
            let sql = format!(
                "SELECT t.project, t.id, {ERASED} FROM copies_due d JOIN turns t ON t.key = d.turn
                 WHERE (t.project = ?1 OR ?1 IS NULL) ORDER BY d.turn LIMIT ?2"
            );
            connection.read_rows_with(&sql, (project, limit as i64), |row| {
                let (project, turn, erased): (Key, String, i64) = row.read()?;
                let unreadable = |_| StoreError::Corrupt("a turn has an invalid id".into());
                let scope = read_project_scope(connection, project)?;
                let turn = TurnId::new(turn).map_err(unreadable)?;
                Ok(DueCopy { scope, turn, erased: Position(erased as u64) })
            })
        })
    }

    /// Marks copies as settled, with those that were made again. They stay due when another node
    /// has the lease, or when another user of the turn was erased meanwhile.
    pub fn settle_copies(
        &self,
        settled: Vec<DueCopy>,
        again: Vec<TurnLogCopy>,
        lease: Option<Lease>,
    ) -> Task<'_, ()> {
        Box::pin(self.writer.run(move |connection| {
            let transaction = connection.transaction()?;
            if leases::is_held(&transaction, lease.as_ref())? {
                settle(&transaction, &settled, &again)?;
            } else {
                make_due(&transaction, settled.iter().map(|due| (&due.scope, &due.turn)))?;
            }
            Ok(transaction.commit()?)
        }))
    }

    pub fn find_copy(&self, scope: &Scope, turn: &TurnId) -> Task<'_, Option<TurnLogCopy>> {
        let (scope, turn) = (scope.clone(), turn.clone());
        self.pool.run(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(None) };
            let found: Option<(String, Option<String>)> = connection.find_row(
                "SELECT l.hosted_uri, l.document FROM turn_logs l JOIN turns t ON t.key = l.turn
                 WHERE t.project = ?1 AND t.id = ?2",
                (project, turn.as_str()),
            )?;
            let copy = |(hosted_uri, document)| TurnLogCopy { scope, turn, hosted_uri, document };
            Ok(found.map(copy))
        })
    }
}

/// The prefix of the mirror's cursor names.
const CURSOR: &str = "turn_log_mirror:";

fn put<'a>(
    connection: &Connection,
    copies: impl IntoIterator<Item = &'a TurnLogCopy>,
) -> sql::Result<()> {
    for copy in copies {
        let Some(turn) = find_turn(connection, &copy.scope, &copy.turn)? else { continue };
        connection.execute_cached(
            "INSERT INTO turn_logs (turn, hosted_uri, document) VALUES (?1, ?2, ?3)
             ON CONFLICT (turn) DO UPDATE
                 SET hosted_uri = excluded.hosted_uri, document = excluded.document",
            (turn, &copy.hosted_uri, &copy.document),
        )?;
    }
    Ok(())
}

fn find_turn(connection: &Connection, scope: &Scope, turn: &TurnId) -> sql::Result<Option<Key>> {
    find_scoped_key(connection, scope, Table::Turns, turn.as_str())
}

/// The last erasure among the users of turn `t`. Retention would lower a count.
const ERASED: &str = "(SELECT coalesce(max(u.erased), 0)
    FROM (SELECT t.user AS who UNION SELECT e.user FROM events e WHERE e.turn = t.key) w
    JOIN users u ON u.key = w.who WHERE u.erased IS NOT NULL)";

/// A copy written under an expired lease may be stale.
fn make_due<'a>(
    connection: &Connection,
    turns: impl Iterator<Item = (&'a Scope, &'a TurnId)>,
) -> sql::Result<()> {
    let insert = "INSERT INTO copies_due (turn) VALUES (?1) ON CONFLICT (turn) DO NOTHING";
    for (scope, turn) in turns {
        let Some(turn) = find_turn(connection, scope, turn)? else { continue };
        connection.execute_cached(insert, [turn])?;
    }
    Ok(())
}

fn settle(connection: &Connection, settled: &[DueCopy], again: &[TurnLogCopy]) -> sql::Result<()> {
    let mut of_before: Vec<&DueCopy> = Vec::new();
    for due in settled {
        let Some(turn) = find_turn(connection, &due.scope, &due.turn)? else { continue };
        let erased = format!("SELECT {ERASED} FROM turns t WHERE t.key = ?1");
        let erased: i64 = connection.read_row(&erased, [turn])?;
        if Position(erased as u64) != due.erased {
            of_before.push(due);
            continue;
        }
        connection.execute_cached("DELETE FROM turn_logs WHERE turn = ?1", [turn])?;
        connection.execute_cached("DELETE FROM copies_due WHERE turn = ?1", [turn])?;
    }
    let is_of_before = |copy: &&TurnLogCopy| {
        of_before.iter().any(|due| due.turn == copy.turn && due.scope == copy.scope)
    };
    put(connection, again.iter().filter(|copy| !is_of_before(copy)))
}
