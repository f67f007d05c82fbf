//! Queries of open sessions.

use model::{ConversationId, InteractionKind, Origin, Scope, Source, Timestamp, TurnId, Type};
use sql::{Connection, Row};

use crate::error::{StoreError, Task};
use crate::row_keys::{Key, read_scope};
use crate::store::Store;

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
    /// True when the application reported that the user left after the last turn.
    pub left: bool,
    pub answered: bool,
}

impl Store {
    /// Sessions without activity since a time, oldest first.
    pub fn silent_sessions(&self, since: Timestamp, limit: usize) -> Task<'_, Vec<OpenSession>> {
        self.pool.run(move |connection| {
            // Limited before the joins, which Postgres would otherwise compute for all sessions.
            let silent = "SELECT * FROM open_sessions WHERE last_ts < ?1 ORDER BY last_ts LIMIT ?2";
            let sql = format!("{} ORDER BY s.last_ts", select(silent));
            let values = (since.as_micros(), limit as i64);
            connection.read_rows_with(&sql, values, read)
        })
    }
}

pub(super) fn find_session(
    connection: &Connection,
    project: Key,
    conversation: &ConversationId,
) -> Result<Option<OpenSession>, StoreError> {
    let sql = select(
        "SELECT * FROM open_sessions
         WHERE conversation = (SELECT key FROM conversations WHERE project = ?1 AND id = ?2)",
    );
    connection.find_row_with(&sql, (project, conversation.as_str()), read)
}

/// A session. Its last answer counts as used after a rating, comment, correction, interaction or
/// reaction. A report of abandonment is no use.
fn select(sessions: &str) -> String {
    let by_users =
        [Source::UserRating, Source::UserComment, Source::UserCorrection, Source::UserInteraction];
    let abandonment = InteractionKind::Abandonment.as_word();
    let (interaction, interaction_type) =
        (Source::UserInteraction.code(), Type::Interaction.code());
    let by_users: Vec<String> = by_users.iter().map(|source| source.code().to_string()).collect();
    format!(
        "SELECT p.tenant, p.project, c.id, s.started_ts, s.last_ts, t.id, s.turns,
            EXISTS (SELECT 1 FROM events e WHERE e.turn = s.last_turn AND e.source IN ({})
                    AND coalesce(json_extract(e.data, '$.kind'), '') <> '{abandonment}')
                OR EXISTS (SELECT 1 FROM reactions r
                    WHERE r.turn = s.last_turn AND r.origin = {}),
            t.completed IS NOT NULL,
            EXISTS (SELECT 1 FROM events e WHERE e.turn = s.last_turn
                AND (e.source = {interaction} OR e.type = {interaction_type})
                AND json_extract(e.data, '$.kind') = '{abandonment}')
         FROM ({sessions}) s
         JOIN projects p ON p.key = s.project
         JOIN conversations c ON c.key = s.conversation
         JOIN turns t ON t.key = s.last_turn",
        by_users.join(","),
        Origin::User.code(),
    )
}

fn read(row: &Row<'_>) -> Result<OpenSession, StoreError> {
    let unreadable = |_| StoreError::Corrupt("an open session has an invalid id".into());
    let turns: i64 = row.get(6)?;
    Ok(OpenSession {
        scope: read_scope(row)?,
        conversation: ConversationId::new(row.get::<_, String>(2)?).map_err(unreadable)?,
        started_at: Timestamp::from_micros(row.get(3)?),
        last_at: Timestamp::from_micros(row.get(4)?),
        last_turn: TurnId::new(row.get::<_, String>(5)?).map_err(unreadable)?,
        turns: turns as u64,
        used: row.get(7)?,
        answered: row.get(8)?,
        left: row.get(9)?,
    })
}
