//! Queries of a user's data.

use model::{Position, Scope, TurnId, UserId};
use sql::Connection;

use crate::error::{StoreError, Task};
use crate::projections::apply::{USER_EVENTS, USER_TURNS};
use crate::row_keys::{Key, Table, find_key, find_project};
use crate::store::Store;

/// The amount of a user's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErasedCounts {
    pub events: u64,
    pub turns: u64,
    pub reactions: u64,
}

impl Store {
    /// The amount of a user's data, and the turns whose logs contain it.
    pub fn user_data(&self, scope: &Scope, user: &UserId) -> Task<'_, (ErasedCounts, Vec<TurnId>)> {
        let (scope, user) = (scope.clone(), user.clone());
        self.pool.run(move |connection| self::user_data(connection, &scope, &user))
    }

    /// The user's turns, including those whose events were dropped.
    pub fn turns_of(&self, scope: &Scope, user: &UserId) -> Task<'_, Vec<TurnId>> {
        let (scope, user) = (scope.clone(), user.clone());
        self.pool.run(move |connection| self::turns_of(connection, &scope, &user))
    }

    /// Positions of the stubs this erasure left behind, ascending.
    pub fn erased_positions(&self, erasure: Position) -> Task<'_, Vec<Position>> {
        self.pool.run(move |connection| self::erased_positions(connection, erasure))
    }
}

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
    // The index starts with the project.
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
    let unreadable = |_| StoreError::Corrupt("a turn has an invalid id".into());
    let turns = turns.into_iter().map(TurnId::new).collect::<Result<_, _>>().map_err(unreadable)?;
    Ok((counts, turns))
}

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
    let unreadable = |_| StoreError::Corrupt("a turn has an invalid id".into());
    turns.into_iter().map(TurnId::new).collect::<Result<_, _>>().map_err(unreadable)
}

pub(crate) fn erased_positions(
    connection: &Connection,
    erasure: Position,
) -> Result<Vec<Position>, StoreError> {
    let users: Vec<Key> = connection
        .prepare_cached("SELECT key FROM users WHERE erased = ?1")?
        .query_map([erasure.0 as i64], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut found = Vec::new();
    // At most one user per erasure.
    for user in users {
        // In one query, because a search per batch would be quadratic.
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
