//! Decisions and their outcomes.

use model::{ConversationId, DecisionId, Position, Scope};
use sql::{Connection, OptionalExtension};

use crate::error::{StoreError, Task};
use crate::event_rows::{self, StoredEvent};
use crate::row_keys::{PackedId, Table, find_key, find_project};
use crate::store::Store;

/// A decision's event and its newest outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDecision {
    pub id: DecisionId,
    pub made: StoredEvent,
    pub settled: Option<StoredEvent>,
}

impl Store {
    pub fn decision(&self, scope: &Scope, id: &DecisionId) -> Task<'_, Option<StoredDecision>> {
        let (scope, id) = (scope.clone(), id.clone());
        self.pool.run_short(move |connection| self::by_id(connection, &scope, &id))
    }

    /// Decisions of a conversation after a position, in log order.
    pub fn conversation_decisions(
        &self,
        scope: &Scope,
        conversation: &ConversationId,
        after: Position,
        limit: usize,
    ) -> Task<'_, Vec<StoredDecision>> {
        let (scope, conversation) = (scope.clone(), conversation.clone());
        self.pool.run(move |connection| {
            self::of_conversation(connection, &scope, &conversation, after, limit)
        })
    }
}

pub(crate) fn by_id(
    connection: &Connection,
    scope: &Scope,
    id: &DecisionId,
) -> Result<Option<StoredDecision>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(None) };
    let found: Option<(i64, Option<i64>)> = connection
        .prepare_cached(
            "SELECT made, settled FROM decisions
             WHERE project = ?1 AND id = ?2 AND made IS NOT NULL",
        )?
        .query_row((project, PackedId::pack(id.as_str())), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((made, settled)) = found else { return Ok(None) };
    read(connection, scope, id.clone(), made, settled)
}

pub(crate) fn of_conversation(
    connection: &Connection,
    scope: &Scope,
    conversation: &ConversationId,
    after: Position,
    limit: usize,
) -> Result<Vec<StoredDecision>, StoreError> {
    let Some(project) = find_project(connection, scope)? else { return Ok(Vec::new()) };
    let table = Table::Conversations;
    let Some(key) = find_key(connection, table, project, conversation.as_str())? else {
        return Ok(Vec::new());
    };
    let mut select = connection.prepare_cached(
        "SELECT id, made, settled FROM decisions
         WHERE conversation = ?1 AND made > ?2 ORDER BY made LIMIT ?3",
    )?;
    let mut rows = select.query((key, after.0 as i64, limit as i64))?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        let made: i64 = row.get(1)?;
        let unreadable = || StoreError::Corrupt(format!("the decision at {made} has no id"));
        let id = PackedId::read(row, 0)?.ok_or_else(unreadable)?;
        let id = DecisionId::new(id).map_err(|_| unreadable())?;
        found.extend(read(connection, scope, id, made, row.get(2)?)?);
    }
    Ok(found)
}

/// `None` when the decision's event was dropped.
fn read(
    connection: &Connection,
    scope: &Scope,
    id: DecisionId,
    made: i64,
    settled: Option<i64>,
) -> Result<Option<StoredDecision>, StoreError> {
    let Some(made) = event_rows::event_at(connection, scope, made)? else { return Ok(None) };
    let settled = match settled {
        None => None,
        Some(position) => event_rows::event_at(connection, scope, position)?,
    };
    Ok(Some(StoredDecision { id, made, settled }))
}
