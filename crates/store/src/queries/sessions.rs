//! Queries of open sessions.

use model::{ConversationId, Origin, Scope, Source, Timestamp, TurnId};
use sql::{Connection, Row};

use crate::error::{StoreError, Task};
use crate::row_keys::{Key, Table, find_key, find_project, read_project_scope};
use crate::store::Store;

/// A session that has not ended.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenSession {
    pub scope: Scope,
    pub conversation: ConversationId,
    pub started_at: Timestamp,
    pub last_at: Timestamp,
    pub last_turn: TurnId,
    pub turns: u64,
    /// True when the user did anything with the last answer.
    pub used: bool,
    /// True when the last turn has its answer.
    pub answered: bool,
}

impl Store {
    pub fn open_session(
        &self,
        scope: &Scope,
        conversation: &ConversationId,
    ) -> Task<'_, Option<OpenSession>> {
        let (scope, conversation) = (scope.clone(), conversation.clone());
        self.pool
            .run_short(move |connection| self::of_conversation(connection, &scope, &conversation))
    }

    /// Sessions without activity since a time, oldest first.
    pub fn silent_sessions(&self, since: Timestamp, limit: usize) -> Task<'_, Vec<OpenSession>> {
        self.pool.run(move |connection| self::silent(connection, since, limit))
    }
}

/// A session, and whether its last answer was rated, commented on, corrected, clicked or reacted
/// to.
fn select(condition: &str) -> String {
    let by_users =
        [Source::UserRating, Source::UserComment, Source::UserCorrection, Source::UserInteraction];
    let by_users: Vec<String> = by_users.iter().map(|source| source.code().to_string()).collect();
    format!(
        "SELECT s.project, c.id, s.started_ts, s.last_ts, t.id, s.turns,
            EXISTS (SELECT 1 FROM events e WHERE e.turn = s.last_turn AND e.source IN ({}))
                OR EXISTS (SELECT 1 FROM reactions r
                    WHERE r.turn = s.last_turn AND r.origin = {}),
            t.completed IS NOT NULL
         FROM open_sessions s
         JOIN conversations c ON c.key = s.conversation
         JOIN turns t ON t.key = s.last_turn
         WHERE {condition}",
        by_users.join(","),
        Origin::User.code(),
    )
}

pub(crate) fn of_conversation(
    connection: &Connection,
    scope: &Scope,
    conversation: &ConversationId,
) -> Result<Option<OpenSession>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(None) };
    let id = conversation.as_str();
    let Some(key) = find_key(connection, Table::Conversations, project, id)? else {
        return Ok(None);
    };
    let mut statement = connection.prepare_cached(&select("s.conversation = ?1"))?;
    let mut rows = statement.query([key])?;
    rows.next()?.map(|row| read(connection, &row)).transpose()
}

pub(crate) fn silent(
    connection: &Connection,
    since: Timestamp,
    limit: usize,
) -> Result<Vec<OpenSession>, StoreError> {
    let sql = select("s.last_ts < ?1 ORDER BY s.last_ts LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((since.as_micros(), limit as i64))?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        found.push(read(connection, row)?);
    }
    Ok(found)
}

fn read(connection: &Connection, row: &Row<'_>) -> Result<OpenSession, StoreError> {
    let unreadable = |_| StoreError::Corrupt("an open session has an invalid id".into());
    let project: Key = row.get(0)?;
    let turns: i64 = row.get(5)?;
    Ok(OpenSession {
        scope: read_project_scope(connection, project)?,
        conversation: ConversationId::new(row.get::<_, String>(1)?).map_err(unreadable)?,
        started_at: Timestamp::from_micros(row.get(2)?),
        last_at: Timestamp::from_micros(row.get(3)?),
        last_turn: TurnId::new(row.get::<_, String>(4)?).map_err(unreadable)?,
        turns: turns as u64,
        used: row.get(6)?,
        answered: row.get(7)?,
    })
}
