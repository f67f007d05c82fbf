//! Checkpoints of routers.

use model::{Position, Scope, Timestamp, TurnId};
use sql::{Connection, OptionalExtension};

use crate::error::{StoreError, Task};
use crate::row_keys::{Key, Table, find_key, find_project, read_project_scope};
use crate::store::Store;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRouter {
    pub name: String,
    pub definition: String,
    pub state: Vec<u8>,
}

/// A project's routers at a log position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterCheckpoint {
    pub position: Position,
    pub routers: Vec<StoredRouter>,
}

/// The version of the newest checkpoint. Several nodes may write checkpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckpointVersion {
    /// Grows with each checkpoint; 0 without any.
    pub version: u64,
    /// The number of erasures, which do not follow from the log.
    pub forgets: u64,
    /// The log position of the checkpoint; `None` without any.
    pub position: Option<Position>,
}

/// The result of writing a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    Kept(CheckpointVersion),
    /// Not written, because another node wrote a newer checkpoint.
    Moved(CheckpointVersion),
}

/// A checkpoint to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextCheckpoint {
    /// The version it is based on.
    pub from: u64,
    /// True when data was erased from it.
    pub forgets: bool,
    pub checkpoint: RouterCheckpoint,
    pub turns: Vec<RouterTurn>,
}

/// A turn's record and its features.
pub type StoredRouterTurn = (String, Vec<u8>);

/// The learning record of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterTurn {
    pub turn: TurnId,
    /// The router that chose the answer, if any.
    pub router: Option<String>,
    pub ts: Timestamp,
    /// The serialized record.
    pub record: String,
    /// The features of the request, kept apart because erasing the user deletes them.
    pub features: Vec<u8>,
}

/// A project with routers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterScope {
    pub scope: Scope,
    /// The position of its first router. Earlier events do not matter.
    pub since: Position,
    /// Current names and definitions.
    pub definitions: Vec<(String, String)>,
}

impl Store {
    /// The projects with routers.
    pub fn router_scopes(&self) -> Task<'_, Vec<RouterScope>> {
        self.pool.run(self::scopes)
    }

    pub fn router_checkpoint(
        &self,
        scope: &Scope,
    ) -> Task<'_, (CheckpointVersion, Option<RouterCheckpoint>)> {
        let scope = scope.clone();
        self.pool.run(move |connection| checkpoint(connection, &scope))
    }

    /// A turn's record and the checkpoint version it belongs to.
    pub fn router_turn(
        &self,
        scope: &Scope,
        turn: &TurnId,
    ) -> Task<'_, (CheckpointVersion, Option<StoredRouterTurn>)> {
        let (scope, turn) = (scope.clone(), turn.clone());
        self.pool.run_short(move |connection| kept_turn(connection, &scope, &turn))
    }

    /// Writes a checkpoint and its turns atomically, unless another node wrote a newer one.
    pub fn save_routers(&self, scope: &Scope, state: NextCheckpoint) -> Task<'_, Keeping> {
        let scope = scope.clone();
        Box::pin(self.writer.run(move |connection: &mut _| save(connection, &scope, &state)))
    }

    /// Deletes a project's checkpoint of the given version.
    pub fn forget_routers(&self, scope: &Scope, version: u64) -> Task<'_, ()> {
        let scope = scope.clone();
        Box::pin(self.writer.run(move |connection: &mut _| forget(connection, &scope, version)))
    }

    /// Turns a router served, newest first: at most `limit` since a time, after skipping some.
    pub fn router_turns(
        &self,
        scope: &Scope,
        router: &str,
        since: Timestamp,
        passed: usize,
        limit: usize,
    ) -> Task<'_, Vec<RouterTurn>> {
        let (scope, router) = (scope.clone(), router.to_owned());
        self.pool
            .run(move |connection| self::turns(connection, &scope, &router, since, passed, limit))
    }
}

pub(crate) fn scopes(connection: &Connection) -> Result<Vec<RouterScope>, StoreError> {
    let sql = "SELECT project, position, name, definition FROM routers ORDER BY project, position";
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(())?;
    let (mut found, mut last): (Vec<RouterScope>, Option<Key>) = (Vec::new(), None);
    while let Some(row) = &rows.next()? {
        let (project, position): (Key, i64) = (row.get(0)?, row.get(1)?);
        if last != Some(project) {
            let scope = read_project_scope(connection, project)?;
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

fn checkpoint(
    connection: &Connection,
    scope: &Scope,
) -> Result<(CheckpointVersion, Option<RouterCheckpoint>), StoreError> {
    let Some(project) = find_project(connection, scope)? else {
        return Ok((CheckpointVersion::default(), None));
    };
    let at = kept_at(connection, project)?;
    let Some(position) = at.position else { return Ok((at, None)) };
    let mut select = connection
        .prepare_cached("SELECT name, definition, state FROM router_states WHERE project = ?1")?;
    let read = |row: &sql::Row<'_>| {
        Ok(StoredRouter { name: row.get(0)?, definition: row.get(1)?, state: row.get(2)? })
    };
    let routers = select.query_map([project], read)?.collect::<Result<_, _>>()?;
    Ok((at, Some(RouterCheckpoint { position, routers })))
}

fn kept_at(connection: &Connection, project: Key) -> Result<CheckpointVersion, StoreError> {
    let found = connection
        .prepare_cached(
            "SELECT version, forgets, position FROM router_progress WHERE project = ?1",
        )?
        .query_row([project], read_kept_at)
        .optional()?;
    Ok(found.unwrap_or_default())
}

fn read_kept_at(row: &sql::Row<'_>) -> sql::Result<CheckpointVersion> {
    let (version, forgets): (i64, i64) = (row.get(0)?, row.get(1)?);
    let position = row.get::<_, Option<i64>>(2)?.map(|position| Position(position as u64));
    Ok(CheckpointVersion { version: version as u64, forgets: forgets as u64, position })
}

/// Reads the record together with the version, in one snapshot.
fn kept_turn(
    connection: &Connection,
    scope: &Scope,
    turn: &TurnId,
) -> Result<(CheckpointVersion, Option<StoredRouterTurn>), StoreError> {
    let Some(project) = find_project(connection, scope)? else {
        return Ok((CheckpointVersion::default(), None));
    };
    let key = find_key(connection, Table::Turns, project, turn.as_str())?;
    let found = connection
        .prepare_cached(
            "SELECT p.version, p.forgets, p.position, r.record, r.features
             FROM router_progress p LEFT JOIN router_turns r ON r.turn = ?2
             WHERE p.project = ?1",
        )?
        .query_row((project, key), |row| {
            let record: Option<String> = row.get(3)?;
            let features = features(row, 4)?;
            Ok((read_kept_at(row)?, record.map(|record| (record, features))))
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}

fn features(row: &sql::Row<'_>, column: usize) -> sql::Result<Vec<u8>> {
    Ok(row.get::<_, Option<Vec<u8>>>(column)?.unwrap_or_default())
}

fn save(
    connection: &mut Connection,
    scope: &Scope,
    state: &NextCheckpoint,
) -> Result<Keeping, StoreError> {
    let transaction = connection.transaction()?;
    let Some(project) = find_project(&transaction, scope)? else {
        return Err(StoreError::Corrupt("a router belongs to a missing project".into()));
    };
    let NextCheckpoint { from, forgets, checkpoint, turns } = state;
    // On Postgres this waits for another node's checkpoint and then finds its version.
    let next = transaction
        .prepare_cached(
            "INSERT INTO router_progress (project, version, forgets, position)
             VALUES (?1, CAST(?2 AS BIGINT) + 1, CAST(?3 AS BIGINT), CAST(?4 AS BIGINT))
             ON CONFLICT (project) DO UPDATE SET
                 version = router_progress.version + 1,
                 forgets = router_progress.forgets + excluded.forgets,
                 position = excluded.position
             WHERE router_progress.version = CAST(?2 AS BIGINT)
             RETURNING version, forgets, position",
        )?
        .query_row(
            (project, *from as i64, i64::from(*forgets), checkpoint.position.0 as i64),
            read_kept_at,
        )
        .optional()?;
    let Some(next) = next else { return Ok(Keeping::Moved(kept_at(&transaction, project)?)) };
    for router in &checkpoint.routers {
        transaction
            .prepare_cached(
                "REPLACE INTO router_states (project, name, definition, state)
                 VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute((project, &router.name, &router.definition, &router.state))?;
    }
    for turn in turns {
        keep_turn(&transaction, project, turn)?;
    }
    transaction.commit()?;
    Ok(Keeping::Kept(next))
}

fn keep_turn(connection: &Connection, project: Key, turn: &RouterTurn) -> Result<(), StoreError> {
    // The turn's row is created by its first event, whatever that is.
    let Some(key) = find_key(connection, Table::Turns, project, turn.turn.as_str())? else {
        return Ok(());
    };
    connection
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
    Ok(())
}

/// Deletes a checkpoint. The version still grows, so no node mistakes a new state for a known one.
/// It counts as an erasure, so no node continues from records that are gone.
fn forget(connection: &mut Connection, scope: &Scope, version: u64) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    let Some(project) = find_project(&transaction, scope)? else { return Ok(()) };
    let forgotten = transaction
        .prepare_cached(
            "UPDATE router_progress SET version = version + 1, forgets = forgets + 1, position = NULL
             WHERE project = ?1 AND version = ?2",
        )?
        .execute((project, version as i64))?;
    if forgotten == 1 {
        for table in ["router_states", "router_turns"] {
            transaction.execute(&format!("DELETE FROM {table} WHERE project = ?1"), [project])?;
        }
    }
    Ok(transaction.commit()?)
}

pub(crate) fn turns(
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
        let unreadable = |_| StoreError::Corrupt("a router turn has an invalid id".into());
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
