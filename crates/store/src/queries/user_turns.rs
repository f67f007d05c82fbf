//! Turns of a conversation with several users, as one of them sees it.
//!
//! A user sees the answers to the own turns and to turns without a user. A message without a user
//! may concern any turn.

use model::{ConversationId, Position, Scope, Timestamp, TurnId, UserId, VerdictStatus};
use sql::{Connection, Value, params_from_iter};

use super::exchanges::{SELECT, StoredExchange, read, read_status, turn_id};
use super::sessions::{OpenSession, find_session};
use crate::error::{StoreError, Task};
use crate::row_keys::{Key, find_project};
use crate::store::Store;

/// The turns of a conversation that a user sees.
#[derive(Clone, Debug)]
pub struct UserTurns {
    pub scope: Scope,
    pub conversation: ConversationId,
    /// `None` selects the turns of all users.
    pub user: Option<UserId>,
}

/// The end of a conversation, which the detectors of a new message read.
#[derive(Clone, Debug, Default)]
pub struct ConversationTail {
    pub session: Option<OpenSession>,
    /// The latest answered turns that the message's user sees, newest first.
    pub answered: Vec<StoredExchange>,
    /// Turns of all users at and after the message's time, oldest first.
    pub later: Vec<StoredExchange>,
}

/// Limits of a [`ConversationTail`].
#[derive(Clone, Copy, Debug)]
pub struct TailLimits {
    pub answered: usize,
    pub later: usize,
    /// The end of the period of later turns.
    pub later_until: Timestamp,
}

/// The place of a stored message among the turns of its conversation.
#[derive(Clone, Copy, Debug)]
pub struct MessagePosition {
    pub position: Position,
    /// Turns asked since this time count even when their answer was stored after the message.
    pub late_since: Timestamp,
}

impl Store {
    /// Reads the end of a conversation, as of a message at `ts`, in one snapshot.
    pub fn conversation_tail(
        &self,
        turns: UserTurns,
        ts: Timestamp,
        limits: TailLimits,
    ) -> Task<'_, ConversationTail> {
        self.pool.run_short(move |connection| {
            let Some(project) = find_project(connection, &turns.scope)? else {
                return Ok(ConversationTail::default());
            };
            let session = find_session(connection, project, &turns.conversation)?;
            let answered =
                answered_turns(connection, turns.filter(project), ts, None, limits.answered)?;
            let all_users = UserTurns { user: None, ..turns };
            let period = (ts, limits.later_until);
            let later = turns_between(connection, all_users.filter(project), period, limits.later)?;
            Ok(ConversationTail { session, answered, later })
        })
    }

    /// Answered turns up to a time, newest first. With `stored_at`, only those that the stored
    /// message at that position follows.
    pub fn answered_turns(
        &self,
        turns: UserTurns,
        until: Timestamp,
        stored_at: Option<MessagePosition>,
        limit: usize,
    ) -> Task<'_, Vec<StoredExchange>> {
        self.pool.run_some(limit, move |connection| match find_project(connection, &turns.scope)? {
            None => Ok(Vec::new()),
            Some(project) => {
                answered_turns(connection, turns.filter(project), until, stored_at, limit)
            }
        })
    }

    /// Turns asked from one time to another, oldest first.
    pub fn turns_between(
        &self,
        turns: UserTurns,
        period: (Timestamp, Timestamp),
        limit: usize,
    ) -> Task<'_, Vec<StoredExchange>> {
        self.pool.run_some(limit, move |connection| match find_project(connection, &turns.scope)? {
            None => Ok(Vec::new()),
            Some(project) => turns_between(connection, turns.filter(project), period, limit),
        })
    }

    /// The reception of the latest answered turns up to a position, newest first. Quoted turns count
    /// only without a turn that was sent, because they may be copies of it.
    pub fn statuses(
        &self,
        turns: UserTurns,
        until: (Timestamp, Position),
        limit: usize,
    ) -> Task<'_, Vec<(TurnId, VerdictStatus)>> {
        self.pool.run_short(move |connection| {
            let Some(project) = find_project(connection, &turns.scope)? else {
                return Ok(Vec::new());
            };
            let (filter, mut values) = turns.filter(project);
            let (ts, position) = (until.0.as_micros(), until.1.0 as i64);
            values.extend([ts, position, limit as i64].map(Value::from));
            for sender in ["t.opened_derived = 0", "t.opened_derived <> 0"] {
                let sql = format!(
                    "SELECT t.id, i.user_feedback_status
                     FROM turns t JOIN turn_index i ON i.turn = t.key
                     WHERE {filter} AND t.ts <= ? AND t.completed IS NOT NULL AND t.completed < ?
                         AND {sender}
                     ORDER BY t.ts DESC, t.opened DESC LIMIT ?"
                );
                let values = params_from_iter(values.iter().cloned());
                let found = connection.read_rows_with(&sql, values, |row| {
                    let (turn, status): (String, String) = row.read()?;
                    Ok::<_, StoreError>((turn_id(turn)?, read_status(&status)?))
                })?;
                if !found.is_empty() {
                    return Ok(found);
                }
            }
            Ok(Vec::new())
        })
    }

    /// The stored opening of a turn, by its position.
    pub fn opening_at(
        &self,
        scope: &Scope,
        position: Position,
    ) -> Task<'_, Option<crate::StoredEvent>> {
        let scope = scope.clone();
        self.pool.run_short(move |connection| {
            crate::event_rows::event_at(connection, &scope, position.0 as i64)
        })
    }
}

fn answered_turns(
    connection: &Connection,
    (mut filter, mut values): (String, Vec<Value>),
    until: Timestamp,
    stored_at: Option<MessagePosition>,
    limit: usize,
) -> Result<Vec<StoredExchange>, StoreError> {
    filter.push_str(" AND t.completed IS NOT NULL AND t.ts <= ?");
    values.push(until.as_micros().into());
    if let Some(MessagePosition { position, late_since }) = stored_at {
        let position = position.0 as i64;
        // Of turns with the same time, those opened earlier come first.
        filter.push_str(
            " AND (t.ts < ? OR t.opened < ?)
              AND ((t.opened < ? AND t.completed < ?) OR t.ts >= ?)",
        );
        values.extend([until.as_micros(), position, position, position].map(Value::from));
        values.push(late_since.as_micros().into());
    }
    values.push((limit as i64).into());
    let sql = format!("{SELECT} WHERE {filter} ORDER BY t.ts DESC, t.opened DESC LIMIT ?");
    connection.read_rows_with(&sql, params_from_iter(values), read)
}

fn turns_between(
    connection: &Connection,
    (filter, mut values): (String, Vec<Value>),
    (from, until): (Timestamp, Timestamp),
    limit: usize,
) -> Result<Vec<StoredExchange>, StoreError> {
    values.extend([from.as_micros(), until.as_micros(), limit as i64].map(Value::from));
    let sql = format!(
        "{SELECT} WHERE {filter} AND t.ts >= ? AND t.ts <= ? ORDER BY t.ts, t.opened LIMIT ?"
    );
    connection.read_rows_with(&sql, params_from_iter(values), read)
}

impl UserTurns {
    /// The condition on `turns t` and its values. Ids become keys in the statement itself, which
    /// saves Postgres a round trip each.
    fn filter(&self, project: Key) -> (String, Vec<Value>) {
        let conversation = Value::from(self.conversation.as_str().to_owned());
        let mut values: Vec<Value> = vec![project.into(), conversation];
        let by_user = match &self.user {
            None => "",
            // A new user has no key and no turns yet.
            Some(user) => {
                values.extend([project.into(), user.as_str().to_owned().into()]);
                " AND (t.user = (SELECT key FROM users WHERE project = ? AND id = ?)
                       OR t.user IS NULL)"
            }
        };
        let conversation = "(SELECT key FROM conversations WHERE project = ? AND id = ?)";
        (format!("t.conversation = {conversation}{by_user}"), values)
    }
}
