//! What there is of a user, and the end of it.

use std::time::Duration;

use model::{Position, Scope, TurnId, UserId};
use sql::Connection;

use crate::error::{StoreError, Task};
use crate::projections::apply::{USER_EVENTS, USER_TURNS};
use crate::row_keys::{Key, Table, find_key, find_project};
use crate::sqlite;
use crate::store::Store;

/// How much there was of a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErasedCounts {
    pub events: u64,
    pub turns: u64,
    pub reactions: u64,
}

impl Store {
    /// How much there is of a user, and the turns whose logs tell of them, whosever they are.
    pub fn user_data(&self, scope: &Scope, user: &UserId) -> Task<'_, (ErasedCounts, Vec<TurnId>)> {
        let (scope, user) = (scope.clone(), user.clone());
        self.pool.run(move |connection| self::user_data(connection, &scope, &user))
    }

    /// The turns that are theirs, also those whose events were dropped when they were old.
    pub fn turns_of(&self, scope: &Scope, user: &UserId) -> Task<'_, Vec<TurnId>> {
        let (scope, user) = (scope.clone(), user.clone());
        self.pool.run(move |connection| self::turns_of(connection, &scope, &user))
    }

    /// Where what is left of the events of those stands who were erased by the event at a position, in order.
    pub fn erased_positions(&self, erasure: Position) -> Task<'_, Vec<Position>> {
        self.pool.run(move |connection| self::erased_positions(connection, erasure))
    }

    /// Makes sure that nothing of what was deleted is left in the files. `false`: not yet, because
    /// somebody reads what was; ask again.
    pub fn scrub(&self) -> Task<'_, bool> {
        Box::pin(self.writer.run(|connection| self::scrub(connection, READER_WAIT)))
    }

    /// The same for whoever asks again and again: hardly waits for readers, so that nobody who writes waits
    /// for those who read long.
    pub fn scrub_if_free(&self) -> Task<'_, bool> {
        Box::pin(self.writer.run(|connection| self::scrub(connection, SHORT_READER_WAIT)))
    }
}

/// How long readers of what was may keep everybody waiting.
const READER_WAIT: Duration = Duration::from_millis(200);

/// The same when it is tried often. Not nothing: where somebody always reads, a little at a time, there is no
/// moment at which nobody does.
const SHORT_READER_WAIT: Duration = Duration::from_millis(10);

/// How much there is of a user, and their turns.
pub(crate) fn user_data(
    connection: &Connection,
    scope: &Scope,
    user: &UserId,
) -> Result<(ErasedCounts, Vec<TurnId>), StoreError> {
    let nothing = (ErasedCounts::default(), Vec::new());
    let Some(project) = find_project(connection, scope)? else { return Ok(nothing) };
    let Some(key) = find_key(connection, Table::Users, project, user.as_str())? else {
        return Ok(nothing);
    };
    let count = |sql: &str| -> Result<u64, StoreError> {
        let count: i64 = connection.prepare_cached(sql)?.query_row([key], |row| row.get(0))?;
        Ok(count as u64)
    };
    let turns: Vec<String> = connection
        .prepare_cached(
            "SELECT DISTINCT t.id FROM events e JOIN turns t ON t.key = e.turn WHERE e.user = ?1",
        )?
        .query_map([key], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    // The index begins with the project.
    let reactions: i64 = connection
        .prepare_cached("SELECT count(*) FROM reactions WHERE project = ?1 AND user = ?2")?
        .query_row((project, key), |row| row.get(0))?;
    let counts = ErasedCounts {
        events: count(&format!("{USER_EVENTS} SELECT count(*) FROM theirs"))?,
        turns: count(
            "SELECT count(DISTINCT t.key) FROM events e JOIN turns t ON t.key = e.turn
             WHERE e.user = ?1 AND t.user = ?1",
        )?,
        reactions: reactions as u64,
    };
    let unreadable = |_| StoreError::Corrupt("a turn has an unreadable id".into());
    let turns = turns.into_iter().map(TurnId::new).collect::<Result<_, _>>().map_err(unreadable)?;
    Ok((counts, turns))
}

/// The turns that are theirs.
pub(crate) fn turns_of(
    connection: &Connection,
    scope: &Scope,
    user: &UserId,
) -> Result<Vec<TurnId>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(Vec::new()) };
    let Some(key) = find_key(connection, Table::Users, project, user.as_str())? else {
        return Ok(Vec::new());
    };
    let turns: Vec<String> = connection
        .prepare_cached(&format!("SELECT id FROM turns WHERE key IN {USER_TURNS}"))?
        .query_map([key], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let unreadable = |_| StoreError::Corrupt("a turn has an unreadable id".into());
    turns.into_iter().map(TurnId::new).collect::<Result<_, _>>().map_err(unreadable)
}

/// Where events of those whom an erasure erased stand.
pub(crate) fn erased_positions(
    connection: &Connection,
    erasure: Position,
) -> Result<Vec<Position>, StoreError> {
    let users: Vec<Key> = connection
        .prepare_cached("SELECT key FROM users WHERE erased = ?1")?
        .query_map([erasure.0 as i64], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut found = Vec::new();
    // One of them, as things are.
    for user in users {
        // All at once: finding them again for each part of many would take the square of their number.
        let positions: Vec<i64> = connection
            .prepare_cached(&format!(
                "{USER_EVENTS} SELECT position FROM theirs WHERE position < ?2 ORDER BY position"
            ))?
            .query_map((user, erasure.0 as i64), |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        found.extend(positions.into_iter().map(|position| Position(position as u64)));
    }
    Ok(found)
}

/// Moves the write-ahead log into the database and cuts it to nothing. What was deleted is already
/// overwritten there (`secure_delete`).
/// Answers `false` when somebody still reads a state from before; it waits for them a moment only, since
/// others want to write.
pub(crate) fn scrub(connection: &mut Connection, wait: Duration) -> Result<bool, StoreError> {
    // Postgres clears away by itself what nobody can see any more.
    let Some(connection) = connection.sqlite() else { return Ok(true) };
    // Readers come and go; whoever comes meanwhile reads the database itself and is not in the way.
    connection.busy_timeout(wait)?;
    let busy: rusqlite::Result<i64> =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
    connection.busy_timeout(sqlite::BUSY_TIMEOUT)?;
    Ok(busy? == 0)
}
