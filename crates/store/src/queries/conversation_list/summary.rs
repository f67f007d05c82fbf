//! Conversations with counts, for the list of the API.

use std::collections::HashMap;

use model::{ConversationId, Timestamp, UserId, VerdictStatus};
use sql::Connection;

use super::{Hit, PageHits, listed};
use crate::error::StoreError;
use crate::queries::conversation_list::ListCursor;
use crate::queries::exchanges::{self, StoredExchange};
use crate::row_keys::Key;

/// A conversation with counts over all of its turns.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationSummary {
    pub conversation: ConversationId,
    /// The user of the first turn.
    pub user: Option<UserId>,
    pub first_question: String,
    /// The newest message of a user.
    pub last_message: String,
    pub first: Timestamp,
    pub last: Timestamp,
    pub counts: SummaryCounts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SummaryCounts {
    pub turns: u64,
    pub rejected: u64,
    pub accepted: u64,
    pub ok: u64,
    pub not_ok: u64,
    pub neutral: u64,
    pub cost: f64,
    /// The slowest answer.
    pub max_millis: Option<u64>,
}

impl SummaryCounts {
    /// The worst verdict of its turns.
    pub fn worst_status(&self) -> VerdictStatus {
        match (self.rejected > 0, self.accepted == self.turns) {
            (true, _) => VerdictStatus::Rejected,
            (false, true) => VerdictStatus::Accepted,
            (false, false) => VerdictStatus::Neutral,
        }
    }
}

/// A page of conversations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SummaryPage {
    pub items: Vec<ConversationSummary>,
    pub next: Option<ListCursor>,
    /// Number of matching conversations.
    pub total: u64,
    /// True when older conversations were not counted.
    pub total_is_capped: bool,
}

pub(super) fn page(
    connection: &Connection,
    found: &PageHits,
    (total, total_is_capped): (u64, bool),
) -> Result<SummaryPage, StoreError> {
    let items = summaries(connection, &found.hits)?;
    Ok(SummaryPage { items, next: found.next, total, total_is_capped })
}

/// In the order of the hits.
fn summaries(
    connection: &Connection,
    hits: &[Hit],
) -> Result<Vec<ConversationSummary>, StoreError> {
    if hits.is_empty() {
        return Ok(Vec::new());
    }
    let keys = listed(hits.iter().map(|hit| hit.conversation));
    let counts = read_counts(connection, &keys)?;
    let (first, last) = (ends(connection, &keys, "<")?, ends(connection, &keys, ">")?);
    let turns: Vec<Key> = first.values().chain(last.values()).copied().collect();
    let exchanges = exchanges::by_keys(connection, &turns)?;
    let summary = |hit: &Hit| {
        let find = |ends: &HashMap<Key, Key>| exchanges.get(ends.get(&hit.conversation)?);
        let (first, last): (&StoredExchange, &StoredExchange) = (find(&first)?, find(&last)?);
        Some(ConversationSummary {
            conversation: first.conversation.clone()?,
            user: first.user.clone(),
            first_question: first.opening.text.clone(),
            last_message: last.opening.text.clone(),
            first: first.ts,
            last: last.ts,
            counts: counts.get(&hit.conversation).copied()?,
        })
    };
    Ok(hits.iter().filter_map(summary).collect())
}

fn read_counts(connection: &Connection, keys: &str) -> sql::Result<HashMap<Key, SummaryCounts>> {
    let status = |status: VerdictStatus| {
        format!("sum(CASE WHEN f.status = {} THEN 1 ELSE 0 END)", status.code())
    };
    let sql = format!(
        "SELECT t.conversation, count(*), {}, {}, sum(f.ok), sum(f.not_ok), sum(f.neutral),
             sum(f.cost), max(f.millis)
         FROM turns t JOIN turn_facts f ON f.turn = t.key
         WHERE t.conversation IN ({keys}) AND f.ts IS NOT NULL GROUP BY t.conversation",
        status(VerdictStatus::Rejected),
        status(VerdictStatus::Accepted),
    );
    let rows = connection.prepare(&sql)?.read_rows_with((), |row| {
        let count =
            |column: usize| -> sql::Result<u64> { Ok(row.get::<_, i64>(column)?.unsigned_abs()) };
        let millis: Option<i64> = row.get(8)?;
        let counts = SummaryCounts {
            turns: count(1)?,
            rejected: count(2)?,
            accepted: count(3)?,
            ok: count(4)?,
            not_ok: count(5)?,
            neutral: count(6)?,
            cost: count(7)? as f64 / 1e9,
            max_millis: millis.map(i64::unsigned_abs),
        };
        Ok::<_, sql::Error>((row.get(0)?, counts))
    })?;
    Ok(rows.into_iter().collect())
}

/// The first (`<`) or last (`>`) turn of each conversation.
fn ends(connection: &Connection, keys: &str, sign: &str) -> sql::Result<HashMap<Key, Key>> {
    let sql = format!(
        "SELECT t.conversation, t.key FROM turns t
         WHERE t.conversation IN ({keys}) AND t.opened IS NOT NULL AND NOT EXISTS (
             SELECT 1 FROM turns o WHERE o.conversation = t.conversation AND o.opened IS NOT NULL
                 AND (o.ts, o.opened) {sign} (t.ts, t.opened))"
    );
    let rows: Vec<(Key, Key)> = connection.prepare(&sql)?.read_rows_with((), |row| row.read())?;
    Ok(rows.into_iter().collect())
}
