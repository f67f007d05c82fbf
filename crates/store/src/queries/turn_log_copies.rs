//! Copies of turn logs, and the progress of the mirror.

use model::{Position, Scope, TurnId};
use sql::{Connection, OptionalExtension};

use crate::error::{StoreError, Task};
use crate::queries::leases::{self, Lease};
use crate::row_keys::{Key, Table, find_key, find_project, read_project_scope};
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
    pub fn mirrored_to(&self, place: &str) -> Task<'_, Position> {
        let place = place.to_owned();
        self.pool.run(move |connection| self::mirrored_to(connection, &place))
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
        let place = place.to_owned();
        let note =
            move |connection: &mut _| self::note(connection, &place, &copies, upto, lease.as_ref());
        Box::pin(self.writer.run(note))
    }

    /// Deletes all copies and the mirror's progress.
    pub fn forget_copies(&self) -> Task<'_, ()> {
        Box::pin(self.writer.run(self::forget))
    }

    /// Turns of erased users whose copies must be made again or deleted, of one scope or of all.
    pub fn copies_due(&self, scope: Option<Scope>, limit: usize) -> Task<'_, Vec<DueCopy>> {
        self.pool.run_short(move |connection| self::due(connection, scope.as_ref(), limit))
    }

    /// Marks copies as settled, with those that were made again. They stay due when another node
    /// has the lease, or when another user of the turn was erased meanwhile.
    pub fn settle_copies(
        &self,
        settled: Vec<DueCopy>,
        again: Vec<TurnLogCopy>,
        lease: Option<Lease>,
    ) -> Task<'_, ()> {
        let settle =
            move |connection: &mut _| self::settle(connection, &settled, &again, lease.as_ref());
        Box::pin(self.writer.run(settle))
    }

    pub fn copy_of(&self, scope: &Scope, turn: &TurnId) -> Task<'_, Option<TurnLogCopy>> {
        let (scope, turn) = (scope.clone(), turn.clone());
        self.pool.run(move |connection| self::copy_of(connection, &scope, &turn))
    }
}

/// The prefix of the mirror's cursor names.
const CURSOR: &str = "turn_log_mirror:";

pub(crate) fn forget(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    transaction.execute("DELETE FROM turn_logs", ())?;
    transaction.execute(
        "DELETE FROM cursors WHERE substr(name, 1, ?2) = ?1",
        (CURSOR, CURSOR.len() as i64),
    )?;
    transaction.commit()?;
    Ok(())
}

pub(crate) fn mirrored_to(connection: &Connection, place: &str) -> Result<Position, StoreError> {
    let position: Option<i64> = connection
        .prepare_cached("SELECT position FROM cursors WHERE name = ?1")?
        .query_row([format!("{CURSOR}{place}")], |row| row.get(0))
        .optional()?;
    Ok(Position(position.unwrap_or(0) as u64))
}

/// Stores copies and progress in one transaction.
pub(crate) fn note(
    connection: &mut Connection,
    place: &str,
    copies: &[TurnLogCopy],
    upto: Position,
    lease: Option<&Lease>,
) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    if !leases::is_held(&transaction, lease)? {
        let turns = copies.iter().map(|copy| (&copy.scope, &copy.turn));
        make_due(&transaction, turns)?;
        return Ok(transaction.commit()?);
    }
    put(&transaction, copies)?;
    transaction
        .prepare_cached(
            "INSERT INTO cursors (name, position) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET position = excluded.position",
        )?
        .execute((format!("{CURSOR}{place}"), upto.0 as i64))?;
    transaction.commit()?;
    Ok(())
}

fn put<'a>(
    connection: &Connection,
    copies: impl IntoIterator<Item = &'a TurnLogCopy>,
) -> Result<(), StoreError> {
    for copy in copies {
        let Some(turn) = resolve_key(connection, &copy.scope, &copy.turn)? else { continue };
        connection
            .prepare_cached(
                "INSERT INTO turn_logs (turn, hosted_uri, document) VALUES (?1, ?2, ?3)
                 ON CONFLICT (turn) DO UPDATE
                     SET hosted_uri = excluded.hosted_uri, document = excluded.document",
            )?
            .execute((turn, &copy.hosted_uri, &copy.document))?;
    }
    Ok(())
}

fn resolve_key(
    connection: &Connection,
    scope: &Scope,
    turn: &TurnId,
) -> Result<Option<Key>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(None) };
    Ok(find_key(connection, Table::Turns, project, turn.as_str())?)
}

/// The position of the last erasure among the users of turn `t`. A count would not do, because
/// retention lowers it.
const ERASED: &str = "(SELECT coalesce(max(u.erased), 0)
    FROM (SELECT t.user AS who UNION SELECT e.user FROM events e WHERE e.turn = t.key) w
    JOIN users u ON u.key = w.who WHERE u.erased IS NOT NULL)";

pub(crate) fn due(
    connection: &Connection,
    scope: Option<&Scope>,
    limit: usize,
) -> Result<Vec<DueCopy>, StoreError> {
    let project = match scope {
        Some(scope) => match find_project(connection, scope)? {
            Some(project) => Some(project),
            None => return Ok(Vec::new()),
        },
        None => None,
    };
    let rows: Vec<(Key, String, i64)> = connection
        .prepare_cached(&format!(
            "SELECT t.project, t.id, {ERASED} FROM copies_due d JOIN turns t ON t.key = d.turn
             WHERE (t.project = ?1 OR ?1 IS NULL) ORDER BY d.turn LIMIT ?2"
        ))?
        .query_map((project, limit as i64), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    let unreadable = |_| StoreError::Corrupt("a turn has an invalid id".into());
    rows.into_iter()
        .map(|(project, turn, erased)| {
            let scope = read_project_scope(connection, project)?;
            let turn = TurnId::new(turn).map_err(unreadable)?;
            Ok(DueCopy { scope, turn, erased: Position(erased as u64) })
        })
        .collect()
}

/// A copy written under an expired lease may be stale.
fn make_due<'a>(
    connection: &Connection,
    turns: impl Iterator<Item = (&'a Scope, &'a TurnId)>,
) -> Result<(), StoreError> {
    for (scope, turn) in turns {
        let Some(turn) = resolve_key(connection, scope, turn)? else { continue };
        connection
            .prepare_cached(
                "INSERT INTO copies_due (turn) VALUES (?1) ON CONFLICT (turn) DO NOTHING",
            )?
            .execute([turn])?;
    }
    Ok(())
}

pub(crate) fn settle(
    connection: &mut Connection,
    settled: &[DueCopy],
    again: &[TurnLogCopy],
    lease: Option<&Lease>,
) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    if !leases::is_held(&transaction, lease)? {
        make_due(&transaction, settled.iter().map(|due| (&due.scope, &due.turn)))?;
        return Ok(transaction.commit()?);
    }
    let mut of_before: Vec<&DueCopy> = Vec::new();
    for due in settled {
        let Some(turn) = resolve_key(&transaction, &due.scope, &due.turn)? else { continue };
        let erased: i64 = transaction
            .prepare_cached(&format!("SELECT {ERASED} FROM turns t WHERE t.key = ?1"))?
            .query_row([turn], |row| row.get(0))?;
        if Position(erased as u64) != due.erased {
            of_before.push(due);
            continue;
        }
        for sql in
            ["DELETE FROM turn_logs WHERE turn = ?1", "DELETE FROM copies_due WHERE turn = ?1"]
        {
            transaction.prepare_cached(sql)?.execute([turn])?;
        }
    }
    let is_of_before = |copy: &&TurnLogCopy| {
        of_before.iter().any(|due| due.turn == copy.turn && due.scope == copy.scope)
    };
    put(&transaction, again.iter().filter(|copy| !is_of_before(copy)))?;
    transaction.commit()?;
    Ok(())
}

pub(crate) fn copy_of(
    connection: &Connection,
    scope: &Scope,
    turn: &TurnId,
) -> Result<Option<TurnLogCopy>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(None) };
    let found: Option<(String, Option<String>)> = connection
        .prepare_cached(
            "SELECT l.hosted_uri, l.document FROM turn_logs l JOIN turns t ON t.key = l.turn
             WHERE t.project = ?1 AND t.id = ?2",
        )?
        .query_row((project, turn.as_str()), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(found.map(|(hosted_uri, document)| TurnLogCopy {
        scope: scope.clone(),
        turn: turn.clone(),
        hosted_uri,
        document,
    }))
}
