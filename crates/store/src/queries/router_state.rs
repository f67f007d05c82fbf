//! Checkpoints of routers.

use model::{Position, Scope, Timestamp, TurnId};
use sql::Connection;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    Kept(CheckpointVersion),
    /// Not written, because another node wrote a newer checkpoint.
    Moved(CheckpointVersion),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextCheckpoint {
    pub from: u64,
    /// True when data was erased from it.
    pub forgets: bool,
    pub checkpoint: RouterCheckpoint,
    pub turns: Vec<RouterTurn>,
}

/// A turn's record and its features; no features after an erasure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRouterTurn {
    pub record: String,
    pub features: Vec<u8>,
}

/// The learning record of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterTurn {
    pub turn: TurnId,
    /// The router that chose the answer, if any.
    pub router: Option<String>,
    pub ts: Timestamp,
    pub record: String,
    /// The features of the request, kept apart because erasing the user deletes them.
    pub features: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterScope {
    pub scope: Scope,
    /// The position of its first router. Earlier events do not matter.
    pub since: Position,
    /// Current names and definitions.
    pub definitions: Vec<(String, String)>,
}

impl Store {
    pub fn router_scopes(&self) -> Task<'_, Vec<RouterScope>> {
        self.pool.run(|connection| {
            let sql = "SELECT project, position, name, definition FROM routers
                ORDER BY project, position";
            let (mut found, mut last): (Vec<RouterScope>, Option<Key>) = (Vec::new(), None);
            for (project, position, name, definition) in
                connection.read_rows::<(Key, i64, String, String)>(sql, ())?
            {
                if last != Some(project) {
                    let scope = read_project_scope(connection, project)?;
                    let since = Position(position as u64);
                    found.push(RouterScope { scope, since, definitions: Vec::new() });
                    last = Some(project);
                }
                if let Some(one) = found.last_mut() {
                    one.definitions.push((name, definition));
                }
            }
            Ok(found)
        })
    }

    pub fn router_checkpoint(
        &self,
        scope: &Scope,
    ) -> Task<'_, (CheckpointVersion, Option<RouterCheckpoint>)> {
        let scope = scope.clone();
        self.pool.run(move |connection| {
            let Some(project) = find_project(connection, &scope)? else {
                return Ok((CheckpointVersion::default(), None));
            };
            let at = read_version(connection, project)?;
            let Some(position) = at.position else { return Ok((at, None)) };
            let routers: Vec<(String, String, Vec<u8>)> = connection.read_rows(
                "SELECT name, definition, state FROM router_states WHERE project = ?1",
                [project],
            )?;
            let router = |(name, definition, state)| StoredRouter { name, definition, state };
            let routers = routers.into_iter().map(router).collect();
            Ok((at, Some(RouterCheckpoint { position, routers })))
        })
    }

    /// A turn's record and the checkpoint version it belongs to, in one snapshot.
    pub fn router_turn(
        &self,
        scope: &Scope,
        turn: &TurnId,
    ) -> Task<'_, (CheckpointVersion, Option<StoredRouterTurn>)> {
        let (scope, turn) = (scope.clone(), turn.clone());
        self.pool.run_short(move |connection| {
            let Some(project) = find_project(connection, &scope)? else {
                return Ok((CheckpointVersion::default(), None));
            };
            let key = find_key(connection, Table::Turns, project, turn.as_str())?;
            let found = connection.find_row_with(
                "SELECT p.version, p.forgets, p.position, r.record, r.features
                 FROM router_progress p LEFT JOIN router_turns r ON r.turn = ?2
                 WHERE p.project = ?1",
                (project, key),
                |row| {
                    let (record, features): (Option<String>, _) = (row.get(3)?, features(row, 4)?);
                    let turn = record.map(|record| StoredRouterTurn { record, features });
                    Ok::<_, sql::Error>((version_from_row(row)?, turn))
                },
            )?;
            Ok(found.unwrap_or_default())
        })
    }

    /// Writes a checkpoint and its turns atomically, unless another node wrote a newer one.
    pub fn save_routers(&self, scope: &Scope, state: NextCheckpoint) -> Task<'_, Keeping> {
        let scope = scope.clone();
        Box::pin(self.writer.run(move |connection| {
            let transaction = connection.transaction()?;
            let Some(project) = find_project(&transaction, &scope)? else {
                return Err(StoreError::Corrupt("a router belongs to a missing project".into()));
            };
            let NextCheckpoint { from, forgets, checkpoint, turns } = &state;
            // On Postgres this waits for another node's checkpoint and then finds its version.
            let next = transaction.find_row_with(
                "INSERT INTO router_progress (project, version, forgets, position)
                 VALUES (?1, CAST(?2 AS BIGINT) + 1, CAST(?3 AS BIGINT), CAST(?4 AS BIGINT))
                 ON CONFLICT (project) DO UPDATE SET
                     version = router_progress.version + 1,
                     forgets = router_progress.forgets + excluded.forgets,
                     position = excluded.position
                 WHERE router_progress.version = CAST(?2 AS BIGINT)
                 RETURNING version, forgets, position",
                (project, *from as i64, i64::from(*forgets), checkpoint.position.0 as i64),
                version_from_row,
            )?;
            let Some(next) = next else {
                return Ok(Keeping::Moved(read_version(&transaction, project)?));
            };
            for router in &checkpoint.routers {
                transaction.execute_cached(
                    "REPLACE INTO router_states (project, name, definition, state)
                     VALUES (?1, ?2, ?3, ?4)",
                    (project, &router.name, &router.definition, &router.state),
                )?;
            }
            for RouterTurn { turn, router, ts, record, features } in turns {
                // The turn's row is created by its first event, whatever that is.
                let key = find_key(&transaction, Table::Turns, project, turn.as_str())?;
                let Some(key) = key else { continue };
                let features = Some(features).filter(|features| !features.is_empty());
                transaction.execute_cached(
                    "REPLACE INTO router_turns (turn, project, router, ts, record, features)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    (key, project, router, ts.as_micros(), record, features),
                )?;
            }
            transaction.commit()?;
            Ok(Keeping::Kept(next))
        }))
    }

    /// Deletes a project's checkpoint of the given version. The version still grows, so no node
    /// mistakes a new state for a known one. It counts as an erasure, so no node continues from
    /// records that are gone.
    pub fn forget_routers(&self, scope: &Scope, version: u64) -> Task<'_, ()> {
        let scope = scope.clone();
        Box::pin(self.writer.run(move |connection| {
            let transaction = connection.transaction()?;
            let Some(project) = find_project(&transaction, &scope)? else { return Ok(()) };
            let forgotten = transaction.execute_cached(
                "UPDATE router_progress
                 SET version = version + 1, forgets = forgets + 1, position = NULL
                 WHERE project = ?1 AND version = ?2",
                (project, version as i64),
            )?;
            if forgotten == 1 {
                for table in ["router_states", "router_turns"] {
                    let delete = format!("DELETE FROM {table} WHERE project = ?1");
                    transaction.execute(&delete, [project])?;
                }
            }
            Ok(transaction.commit()?)
        }))
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
        self.pool.run(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(Vec::new()) };
            connection.read_rows_with(
                "SELECT t.id, r.ts, r.record, r.features
                 FROM router_turns r JOIN turns t ON t.key = r.turn
                 WHERE r.project = ?1 AND r.router = ?2 AND r.ts >= ?3
                 ORDER BY r.ts DESC, r.turn DESC LIMIT ?4 OFFSET ?5",
                (project, &router, since.as_micros(), limit as i64, passed as i64),
                |row| {
                    let (turn, ts, record): (String, i64, String) = row.read()?;
                    let unreadable =
                        |_| StoreError::Corrupt("a router turn has an invalid id".into());
                    Ok(RouterTurn {
                        turn: TurnId::new(turn).map_err(unreadable)?,
                        router: Some(router.clone()),
                        ts: Timestamp::from_micros(ts),
                        record,
                        features: features(row, 3)?,
                    })
                },
            )
        })
    }
}

fn read_version(connection: &Connection, project: Key) -> sql::Result<CheckpointVersion> {
    let select = "SELECT version, forgets, position FROM router_progress WHERE project = ?1";
    Ok(connection.find_row_with(select, [project], version_from_row)?.unwrap_or_default())
}

fn version_from_row(row: &sql::Row<'_>) -> sql::Result<CheckpointVersion> {
    let (version, forgets, position): (i64, i64, Option<i64>) = row.read()?;
    let position = position.map(|position| Position(position as u64));
    Ok(CheckpointVersion { version: version as u64, forgets: forgets as u64, position })
}

fn features(row: &sql::Row<'_>, column: usize) -> sql::Result<Vec<u8>> {
    Ok(row.get::<_, Option<Vec<u8>>>(column)?.unwrap_or_default())
}
