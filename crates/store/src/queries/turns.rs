//! Turns and their events.

use std::collections::HashMap;

use model::{Body, ConversationId, Position, Scope, Timestamp, TurnId, UserId};
use sql::Connection;

use crate::error::{StoreError, Task};
use crate::event_rows::{self, StoredEvent};
use crate::row_keys::{Key, Table, find_key, find_project};
use crate::store::Store;

/// The fields of an opened turn. Only `completed` changes later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnHead {
    pub turn: TurnId,
    pub conversation: Option<ConversationId>,
    pub user: Option<UserId>,
    pub ts: Timestamp,
    /// The arrival time of the question; `ts` when its event was dropped.
    pub received_at: Timestamp,
    pub erased: bool,
    pub completed: bool,
    /// Known only from feedback that names or quotes it.
    pub derived: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StoredTurn {
    pub head: TurnHead,
    pub hosted_uri: Option<String>,
    /// All events that name the turn, in log order; beyond 1,000 its halves and the newest 1,000.
    pub events: Vec<StoredEvent>,
    /// Positions of the verdicts on the turn that were not withdrawn.
    pub verdicts: Vec<Position>,
}

impl Store {
    pub fn turn_head(&self, scope: &Scope, turn: &TurnId) -> Task<'_, Option<TurnHead>> {
        let (scope, turn) = (scope.clone(), turn.clone());
        self.pool.run_short(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(None) };
            Ok(find(connection, project, &turn)?.map(|found| found.head))
        })
    }

    /// The position of the first turn of each conversation, also if it is only quoted.
    pub fn first_turns(
        &self,
        scope: &Scope,
        conversations: Vec<ConversationId>,
    ) -> Task<'_, HashMap<ConversationId, Position>> {
        let scope = scope.clone();
        self.pool.run_some(conversations.len(), move |connection| {
            let mut found = HashMap::new();
            let Some(project) = find_project(connection, &scope)? else { return Ok(found) };
            for conversation in conversations {
                let id = conversation.as_str();
                let key = find_key(connection, Table::Conversations, project, id)?;
                let Some(key) = key else { continue };
                let select = "SELECT min(opened) FROM turns WHERE conversation = ?1";
                let first: Option<i64> = connection.read_row(select, [key])?;
                let first = first.map(|position| Position(position.unsigned_abs()));
                found.extend(first.map(|first| (conversation, first)));
            }
            Ok(found)
        })
    }

    /// Turns with their events, in the order of the ids; unknown ones are skipped.
    pub fn turns(&self, scope: &Scope, turns: Vec<TurnId>) -> Task<'_, Vec<StoredTurn>> {
        let scope = scope.clone();
        self.pool.run(move |connection| read_turns(connection, &scope, &turns))
    }
}

/// Turns with their events, in the order of the ids; unknown ones are skipped.
pub(crate) fn read_turns(
    connection: &Connection,
    scope: &Scope,
    turns: &[TurnId],
) -> Result<Vec<StoredTurn>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(Vec::new()) };
    let mut stored = Vec::with_capacity(turns.len());
    for turn in turns {
        let Some(found) = find(connection, project, turn)? else { continue };
        let events = turn_events(connection, scope, &found)?;
        let verdicts = connection.read_rows_with(
            "SELECT position FROM verdicts WHERE turn = ?1",
            [found.key],
            |row| Ok::<_, StoreError>(Position(row.get::<_, i64>(0)?.unsigned_abs())),
        )?;
        let Found { head, hosted_uri, .. } = found;
        stored.push(StoredTurn { head, hosted_uri, events, verdicts });
    }
    Ok(stored)
}

const MAX_EVENTS: usize = 1000;

struct Found {
    key: Key,
    head: TurnHead,
    hosted_uri: Option<String>,
    // The positions of its two halves.
    opened: i64,
    completed: Option<i64>,
}

fn find(connection: &Connection, project: Key, turn: &TurnId) -> Result<Option<Found>, StoreError> {
    connection.find_row_with(
        "SELECT t.key, c.id, u.id, t.ts, t.opened, t.completed, l.hosted_uri,
             coalesce(o.received_at, t.ts), u.erased IS NOT NULL, t.opened_derived <> 0
         FROM turns t
         LEFT JOIN events o ON o.position = t.opened
         LEFT JOIN conversations c ON c.key = t.conversation
         LEFT JOIN users u ON u.key = t.user
         LEFT JOIN turn_logs l ON l.turn = t.key
         WHERE t.project = ?1 AND t.id = ?2 AND t.opened IS NOT NULL",
        (project, turn.as_str()),
        |row| {
            let (key, conversation, user): (_, Option<String>, Option<String>) = row.read()?;
            let (opened, completed) = (row.get(4)?, row.get(5)?);
            let unreadable = |_| StoreError::Corrupt(format!("turn {turn} has an invalid id"));
            let conversation = conversation.map(ConversationId::new).transpose();
            let head = TurnHead {
                turn: turn.clone(),
                conversation: conversation.map_err(unreadable)?,
                user: user.map(UserId::new).transpose().map_err(unreadable)?,
                ts: Timestamp::from_micros(row.get(3)?),
                received_at: Timestamp::from_micros(row.get(7)?),
                erased: row.get(8)?,
                completed: Option::is_some(&completed),
                derived: row.get(9)?,
            };
            Ok(Found { key, head, hosted_uri: row.get(6)?, opened, completed })
        },
    )
}

/// The newest events that name the turn, and its two halves.
fn turn_events(
    connection: &Connection,
    scope: &Scope,
    turn: &Found,
) -> Result<Vec<StoredEvent>, StoreError> {
    let sql = format!(
        "{} WHERE e.turn = ?1 ORDER BY e.position DESC LIMIT {MAX_EVENTS}",
        event_rows::SELECT
    );
    let mut found =
        connection.read_rows_with(&sql, [turn.key], |row| event_rows::read_event(row, scope))?;
    let halves = [turn.completed, Some(turn.opened)];
    // A quoted half may have been replaced, or have arrived too late.
    let is_current = |stored: &StoredEvent| {
        !matches!(stored.event.body, Body::Turn(_))
            || halves.contains(&Some(stored.position.0 as i64))
    };
    found.retain(is_current);
    for half in halves.into_iter().flatten() {
        if !found.iter().any(|stored| stored.position.0 as i64 == half) {
            found.extend(event_rows::event_at(connection, scope, half)?);
        }
    }
    found.sort_by_key(|stored| stored.position);
    Ok(found)
}
