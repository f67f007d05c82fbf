//! Queries of a user's data.

use model::{Position, Scope, TurnId, UserId};

use crate::error::{StoreError, Task};
use crate::projections::apply::{USER_EVENTS, USER_TURNS};
use crate::row_keys::{Key, Table, find_key, find_project, find_scoped_key};
use crate::store::Store;

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
        self.pool.run(move |connection| {
            let nothing = (ErasedCounts::default(), Vec::new());
            let Some(project) = find_project(connection, &scope)? else { return Ok(nothing) };
            let key = find_key(connection, Table::Users, project, user.as_str())?;
            let Some(key) = key else { return Ok(nothing) };
            let turns = connection.read_rows(
                "SELECT DISTINCT t.id FROM events e JOIN turns t ON t.key = e.turn
                 WHERE e.user = ?1",
                [key],
            )?;
            // The index starts with the project.
            let reactions = "SELECT count(*) FROM reactions WHERE project = ?1 AND user = ?2";
            let events = format!("{USER_EVENTS} SELECT count(*) FROM theirs");
            let counts = ErasedCounts {
                events: connection.read_row(&events, [key])?,
                turns: connection.read_row(
                    "SELECT count(DISTINCT t.key) FROM events e JOIN turns t ON t.key = e.turn
                     WHERE e.user = ?1 AND t.user = ?1",
                    [key],
                )?,
                reactions: connection.read_row(reactions, (project, key))?,
            };
            Ok((counts, parse_ids(turns)?))
        })
    }

    /// The user's turns, including those whose events were dropped.
    pub fn turns_of(&self, scope: &Scope, user: &UserId) -> Task<'_, Vec<TurnId>> {
        let (scope, user) = (scope.clone(), user.clone());
        self.pool.run(move |connection| {
            let key = find_scoped_key(connection, &scope, Table::Users, user.as_str())?;
            let Some(key) = key else { return Ok(Vec::new()) };
            let sql = format!("SELECT id FROM turns WHERE key IN {USER_TURNS}");
            parse_ids(connection.read_rows(&sql, [key])?)
        })
    }

    /// Positions of the stubs this erasure left behind, ascending.
    pub fn erased_positions(&self, erasure: Position) -> Task<'_, Vec<Position>> {
        self.pool.run(move |connection| {
            let erasure = erasure.0 as i64;
            let users: Vec<Key> =
                connection.read_rows("SELECT key FROM users WHERE erased = ?1", [erasure])?;
            let mut found: Vec<i64> = Vec::new();
            // At most one user per erasure.
            for user in users {
                // In one query, because a search per batch would be quadratic.
                found.extend(connection.read_rows::<i64>(
                    &format!(
                        "{USER_EVENTS} SELECT position FROM theirs
                         WHERE position < ?2 ORDER BY position"
                    ),
                    (user, erasure),
                )?);
            }
            Ok(found.into_iter().map(|position| Position(position as u64)).collect())
        })
    }
}

fn parse_ids(turns: Vec<String>) -> Result<Vec<TurnId>, StoreError> {
    let unreadable = |_| StoreError::Corrupt("a turn has an invalid id".into());
    turns.into_iter().map(TurnId::new).collect::<Result<_, _>>().map_err(unreadable)
}
