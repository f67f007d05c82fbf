//! Pages of turns, and the number of conversations that match.

use std::collections::HashSet;

use sql::{Connection, params_from_iter};

use super::filter::wanted;
use super::{CHUNKS, Hit, SearchScope, chunk, find_search_scopes, turns_of};
use crate::error::StoreError;
use crate::queries::conversation_list::{ListCursor, ListQuery};
use crate::queries::exchanges::{self, StoredExchange};
use crate::row_keys::Key;

/// The newest turns that are examined for a count.
pub(super) const MAX_COUNTED_TURNS: i64 = 10_000;

/// Matching turns, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnPage {
    pub items: Vec<StoredExchange>,
    /// The start of the next page, if there may be one.
    pub next: Option<ListCursor>,
}

pub(super) fn page(connection: &Connection, query: &ListQuery) -> Result<TurnPage, StoreError> {
    let mut hits: Vec<Hit> = Vec::new();
    let mut stopped: Option<ListCursor> = None;
    for scope in find_search_scopes(connection, query)? {
        stopped = stopped.max(walk(connection, query, scope, &mut hits)?);
    }
    let cursor = |hit: &Hit| ListCursor { rank: hit.ts, key: hit.turn };
    hits.sort_by_key(|hit| std::cmp::Reverse(cursor(hit)));
    if let Some(end) = stopped {
        hits.retain(|hit| cursor(hit) >= end);
    }
    finish(
        connection,
        query.limit,
        hits.into_iter().map(|hit| (cursor(&hit), hit)).collect(),
        stopped,
    )
}

/// Loads the page's turns. `hits` are in order, `stopped` is the end of a search that stopped early.
pub(super) fn finish(
    connection: &Connection,
    limit: usize,
    mut hits: Vec<(ListCursor, Hit)>,
    stopped: Option<ListCursor>,
) -> Result<TurnPage, StoreError> {
    let more = hits.len() > limit;
    hits.truncate(limit);
    let last = hits.last().map(|(cursor, _)| *cursor);
    let keys: Vec<Key> = hits.iter().map(|(_, hit)| hit.turn).collect();
    let mut found = exchanges::by_keys(connection, &keys)?;
    let items = keys.iter().filter_map(|key| found.remove(key)).collect();
    Ok(TurnPage { items, next: if more { last } else { stopped } })
}

/// Searches back in time until the page is full. Returns where the search stopped early.
fn walk(
    connection: &Connection,
    query: &ListQuery,
    scope: SearchScope,
    hits: &mut Vec<Hit>,
) -> sql::Result<Option<ListCursor>> {
    let newest = ListCursor { rank: query.window.end.as_micros(), key: i64::MAX };
    let mut from = query.behind.unwrap_or(newest);
    let mut fresh = 0;
    for most in CHUNKS {
        let (found, ended) = chunk(connection, query, scope, from, most)?;
        fresh += found.len();
        hits.extend(found);
        let Some(ended) = ended.filter(|_| fresh <= query.limit) else { return Ok(None) };
        from = ended;
    }
    Ok(Some(from))
}

/// Counts matching conversations, and whether older ones were left out.
pub(super) fn count(connection: &Connection, query: &ListQuery) -> sql::Result<(u64, bool)> {
    let from = ListCursor { rank: query.window.end.as_micros(), key: i64::MAX };
    let (mut conversations, mut is_capped) = (HashSet::new(), false);
    for scope in find_search_scopes(connection, query)? {
        let (turns, mut values) = turns_of(query, scope, from);
        let beyond = format!("{} LIMIT 1 OFFSET ?", turns.replacen('*', "ts, turn", 1));
        let offset = values.iter().cloned().chain([MAX_COUNTED_TURNS.into()]);
        let beyond: Option<(i64, Key)> = connection.find_row(&beyond, params_from_iter(offset))?;
        is_capped |= beyond.is_some();
        values.push(MAX_COUNTED_TURNS.into());
        let sql = format!(
            "SELECT DISTINCT t.conversation FROM ({turns} LIMIT ?) f JOIN turns t ON t.key = f.turn
             WHERE t.conversation IS NOT NULL AND {}",
            wanted(query, &mut values)
        );
        let rows = connection
            .read_rows_with(&sql, params_from_iter(values), |row| row.get::<_, Key>(0))?;
        conversations.extend(rows);
    }
    Ok((conversations.len() as u64, is_capped))
}
