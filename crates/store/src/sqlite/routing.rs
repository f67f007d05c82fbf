//! Keeps what routers have learnt.

use event::{Position, Scope, Timestamp, TurnId};

use super::keys::{Key, Table, find_key, find_project, scope_of};
use crate::error::StoreError;
use crate::read::routing::{RouterCheckpoint, RouterScope, RouterTurn, StoredRouter};
use crate::sql::{self, Connection, OptionalExtension};

/// The projects that have routers.
pub(super) fn scopes(connection: &Connection) -> Result<Vec<RouterScope>, StoreError> {
    let sql = "SELECT project, position, name, definition FROM routers ORDER BY project, position";
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(())?;
    let (mut found, mut last): (Vec<RouterScope>, Option<Key>) = (Vec::new(), None);
    while let Some(row) = &rows.next()? {
        let (project, position): (Key, i64) = (row.get(0)?, row.get(1)?);
        if last != Some(project) {
            let scope = scope_of(connection, project)?;
            let since = Position(position as u64);
            found.push(RouterScope { scope, since, definitions: Vec::new() });
            last = Some(project);
        }
        if let Some(one) = found.last_mut() {
            one.definitions.push((row.get(2)?, row.get(3)?));
        }
    }
    Ok(found)
}

/// A project's routers as they were last kept.
pub(super) fn checkpoint(
    connection: &Connection,
    scope: &Scope,
) -> Result<Option<RouterCheckpoint>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(None) };
    let position: Option<i64> = connection
        .prepare_cached("SELECT position FROM router_progress WHERE project = ?1")?
        .query_row([project], |row| row.get(0))
        .optional()?;
    let Some(position) = position else { return Ok(None) };
    let mut select = connection
        .prepare_cached("SELECT name, definition, state FROM router_states WHERE project = ?1")?;
    let read = |row: &sql::Row<'_>| {
        Ok(StoredRouter { name: row.get(0)?, definition: row.get(1)?, state: row.get(2)? })
    };
    let routers = select.query_map([project], read)?.collect::<Result<_, _>>()?;
    Ok(Some(RouterCheckpoint { position: Position(position as u64), routers }))
}

/// A turn as it was last kept.
pub(super) fn turn(
    connection: &Connection,
    scope: &Scope,
    turn: &TurnId,
) -> Result<Option<(String, Vec<u8>)>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(None) };
    let Some(key) = find_key(connection, Table::Turns, project, turn.as_str())? else {
        return Ok(None);
    };
    let found = connection
        .prepare_cached("SELECT record, features FROM router_turns WHERE turn = ?1")?
        .query_row([key], |row| Ok((row.get(0)?, features(row, 1)?)))
        .optional()?;
    Ok(found)
}

fn features(row: &sql::Row<'_>, column: usize) -> sql::Result<Vec<u8>> {
    Ok(row.get::<_, Option<Vec<u8>>>(column)?.unwrap_or_default())
}

/// Keeps routers and turns.
pub(super) fn save(
    connection: &mut Connection,
    scope: &Scope,
    checkpoint: &RouterCheckpoint,
    turns: &[RouterTurn],
) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    let Some(project) = find_project(&transaction, scope)? else { return Ok(()) };
    transaction
        .prepare_cached("REPLACE INTO router_progress (project, position) VALUES (?1, ?2)")?
        .execute((project, checkpoint.position.0 as i64))?;
    for router in &checkpoint.routers {
        transaction
            .prepare_cached(
                "REPLACE INTO router_states (project, name, definition, state)
                 VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute((project, &router.name, &router.definition, &router.state))?;
    }
    for turn in turns {
        // Whatever is said of a turn makes it known.
        let id = turn.turn.as_str();
        let Some(key) = find_key(&transaction, Table::Turns, project, id)? else { continue };
        transaction
            .prepare_cached(
                "REPLACE INTO router_turns (turn, project, router, ts, record, features)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute((
                key,
                project,
                &turn.router,
                turn.ts.as_micros(),
                &turn.record,
                Some(&turn.features).filter(|features| !features.is_empty()),
            ))?;
    }
    Ok(transaction.commit()?)
}

/// Forgets what was kept of a project.
pub(super) fn forget(connection: &mut Connection, scope: &Scope) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    let Some(project) = find_project(&transaction, scope)? else { return Ok(()) };
    for table in ["router_progress", "router_states", "router_turns"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE project = ?1"), [project])?;
    }
    Ok(transaction.commit()?)
}

/// The turns a router served, the newest first.
pub(super) fn turns(
    connection: &Connection,
    scope: &Scope,
    router: &str,
    since: Timestamp,
    passed: usize,
    limit: usize,
) -> Result<Vec<RouterTurn>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(Vec::new()) };
    let mut select = connection.prepare_cached(
        "SELECT t.id, r.ts, r.record, r.features FROM router_turns r JOIN turns t ON t.key = r.turn
         WHERE r.project = ?1 AND r.router = ?2 AND r.ts >= ?3
         ORDER BY r.ts DESC, r.turn DESC LIMIT ?4 OFFSET ?5",
    )?;
    let values = (project, router, since.as_micros(), limit as i64, passed as i64);
    let mut rows = select.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        let unreadable = |_| StoreError::Corrupt("a turn of a router has an unreadable id".into());
        found.push(RouterTurn {
            turn: TurnId::new(row.get::<_, String>(0)?).map_err(unreadable)?,
            router: Some(router.to_owned()),
            ts: Timestamp::from_micros(row.get(1)?),
            record: row.get(2)?,
            features: features(row, 3)?,
        });
    }
    Ok(found)
}
