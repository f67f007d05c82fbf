//! Decisions and their outcomes.

use model::{ConversationId, DecisionId, Position, Scope};
use sql::Connection;

use crate::error::{StoreError, Task};
use crate::event_rows::{self, StoredEvent};
use crate::row_keys::{PackedId, Table, find_project, find_scoped_key};
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
        self.pool.run_short(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(None) };
            let found: Option<(i64, Option<i64>)> = connection.find_row(
                "SELECT made, settled FROM decisions
                 WHERE project = ?1 AND id = ?2 AND made IS NOT NULL",
                (project, PackedId::pack(id.as_str())),
            )?;
            let Some((made, settled)) = found else { return Ok(None) };
            read(connection, &scope, id, made, settled)
        })
    }

    /// The newest outcome of a decision that is not stored yet.
    pub fn pending_outcome(&self, scope: &Scope, id: &DecisionId) -> Task<'_, Option<StoredEvent>> {
        let (scope, id) = (scope.clone(), id.clone());
        self.pool.run_short(move |connection| {
            let Some(project) = find_project(connection, &scope)? else { return Ok(None) };
            let settled: Option<i64> = connection.find_row(
                "SELECT settled FROM decisions
                 WHERE project = ?1 AND id = ?2 AND settled IS NOT NULL",
                (project, PackedId::pack(id.as_str())),
            )?;
            settled.map_or(Ok(None), |settled| event_rows::event_at(connection, &scope, settled))
        })
    }

    /// Decisions of a conversation after a position, in log order.
    pub fn conversation_decisions(
        &self,
        scope: &Scope,
        conversation: &ConversationId,
        after: Position,
        limit: usize,
    ) -> Task<'_, Vec<StoredDecision>> {
        let (scope, id) = (scope.clone(), conversation.clone());
        self.pool.run(move |connection| {
            let key = find_scoped_key(connection, &scope, Table::Conversations, id.as_str())?;
            let Some(key) = key else { return Ok(Vec::new()) };
            let found = connection.read_rows_with(
                "SELECT id, made, settled FROM decisions
                 WHERE conversation = ?1 AND made > ?2 ORDER BY made LIMIT ?3",
                (key, after.0 as i64, limit as i64),
                |row| {
                    let made: i64 = row.get(1)?;
                    let unreadable =
                        || StoreError::Corrupt(format!("the decision at {made} has no id"));
                    let id = PackedId::read(row, 0)?.ok_or_else(unreadable)?;
                    let id = DecisionId::new(id).map_err(|_| unreadable())?;
                    read(connection, &scope, id, made, row.get(2)?)
                },
            )?;
            Ok(found.into_iter().flatten().collect())
        })
    }
}

/// `None` when the decision's event was dropped.
fn read(
    connection: &Connection,
    scope: &Scope,
    id: DecisionId,
    made: i64,
    settled: Option<i64>,
) -> Result<Option<StoredDecision>, StoreError> {
    let event_at = |position| event_rows::event_at(connection, scope, position);
    let Some(made) = event_at(made)? else { return Ok(None) };
    let settled = settled.map_or(Ok(None), event_at)?;
    Ok(Some(StoredDecision { id, made, settled }))
}
