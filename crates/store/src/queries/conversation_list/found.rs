//! Reads what the list shows of a conversation.

use std::collections::{BTreeSet, HashMap};

use model::{Scope, Timestamp, VerdictStatus};
use sql::Connection;

use super::{Hit, listed};
use crate::error::StoreError;
use crate::queries::conversation_list::{ConversationTally, ListedConversation};
use crate::queries::exchanges;
use crate::row_keys::{Key, read_project_scope};

/// First turn, last turn and counts.
type Sums = (i64, i64, ConversationTally);

/// In the order of the hits.
pub(crate) fn conversations(
    connection: &Connection,
    hits: &[Hit],
) -> Result<Vec<ListedConversation>, StoreError> {
    let sums = sums(connection, hits)?;
    let turns: Vec<Key> = hits.iter().map(|hit| hit.turn).collect();
    let mut shown = exchanges::by_keys(connection, &turns)?;
    let mut scopes: HashMap<Key, Scope> = HashMap::new();
    for project in hits.iter().map(|hit| hit.project).collect::<BTreeSet<_>>() {
        scopes.insert(project, read_project_scope(connection, project)?);
    }
    let mut found = Vec::with_capacity(hits.len());
    for hit in hits {
        let known =
            (shown.remove(&hit.turn), sums.get(&hit.conversation), scopes.get(&hit.project));
        let (Some(shown), Some(&(first, last, tally)), Some(scope)) = known else { continue };
        found.push(ListedConversation {
            scope: scope.clone(),
            shown,
            first: Timestamp::from_micros(first),
            last: Timestamp::from_micros(last),
            tally,
        });
    }
    Ok(found)
}

fn sums(connection: &Connection, hits: &[Hit]) -> sql::Result<HashMap<Key, Sums>> {
    if hits.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = format!(
        "SELECT t.conversation, min(f.ts), max(f.ts), count(*),
             sum(CASE WHEN f.status = {} THEN 1 ELSE 0 END), sum(f.corrected),
             sum(CASE WHEN f.failed > 0 THEN 1 ELSE 0 END), sum(f.ok), sum(f.not_ok)
         FROM turns t JOIN turn_facts f ON f.turn = t.key
         WHERE t.conversation IN ({}) AND f.ts IS NOT NULL GROUP BY t.conversation",
        VerdictStatus::Rejected.code(),
        listed(hits.iter().map(|hit| hit.conversation))
    );
    let rows = connection.prepare(&sql)?.read_rows_with((), |row| {
        let count =
            |column: usize| -> sql::Result<u64> { Ok(row.get::<_, i64>(column)?.unsigned_abs()) };
        let tally = ConversationTally {
            turns: count(3)?,
            rejected: count(4)?,
            corrected: count(5)?,
            failed: count(6)?,
            ok: count(7)?,
            not_ok: count(8)?,
        };
        Ok::<_, sql::Error>((row.get(0)?, (row.get(1)?, row.get(2)?, tally)))
    })?;
    Ok(rows.into_iter().collect())
}
