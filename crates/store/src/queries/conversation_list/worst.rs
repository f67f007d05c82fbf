//! Lists the conversations with the most problems.

use std::collections::HashMap;

use model::{Timestamp, VerdictStatus};
use sql::{Connection, Value, params_from_iter};

use super::{Hit, SearchScope, find_search_scopes, found, turns_of};
use crate::error::StoreError;
use crate::queries::conversation_list::{ListCursor, ListPage, ListQuery, TurnMark};
use crate::row_keys::Key;

/// The newest turns with a problem that are examined.
const MAX_TURNS: i64 = 10_000;

/// The score of a conversation and its worst turn, the newest among equals.
struct Bad {
    score: i64,
    worst: (i64, i64, Key),
    hit: Hit,
}

/// Lists the worst first. Signals of people weigh more than the machine's.
pub(crate) fn page(connection: &Connection, query: &ListQuery) -> Result<ListPage, StoreError> {
    // Only turns with a problem count, whatever the other filters.
    let walked = ListQuery { mark: TurnMark::Trouble, behind: None, ..query.clone() };
    let mut all: HashMap<Key, Bad> = HashMap::new();
    let mut stopped: Option<i64> = None;
    for scope in find_search_scopes(connection, query)? {
        let (count, last) = add(connection, query, &walked, scope, &mut all)?;
        stopped = stopped.max(last.filter(|_| count >= MAX_TURNS));
    }
    let mut all: Vec<Bad> = all.into_values().collect();
    let cursor = |bad: &Bad| ListCursor { rank: bad.score, key: bad.hit.conversation };
    if let Some(behind) = query.behind {
        all.retain(|bad| cursor(bad) < behind);
    }
    all.sort_by_key(|bad| std::cmp::Reverse(cursor(bad)));
    let more = all.len() > query.limit;
    all.truncate(query.limit);
    let last = all.last().map(cursor);
    let hits: Vec<Hit> = all.iter().map(|bad| bad.hit).collect();
    Ok(ListPage {
        items: found::conversations(connection, &hits)?,
        next: last.filter(|_| more),
        stopped_at: stopped.filter(|_| !more).map(Timestamp::from_micros),
    })
}

fn add(
    connection: &Connection,
    query: &ListQuery,
    walked: &ListQuery,
    scope: SearchScope,
    all: &mut HashMap<Key, Bad>,
) -> sql::Result<(i64, Option<i64>)> {
    let from = ListCursor { rank: query.window.end.as_micros(), key: i64::MAX };
    let (turns, mut values) = turns_of(walked, scope, from);
    values.push(Value::from(MAX_TURNS));
    let sql = format!(
        "SELECT f.ts, f.turn, t.conversation,
             4 * f.not_ok + 3 * f.corrected + CASE WHEN f.status = {} THEN 2 ELSE 0 END
                 + CASE WHEN f.failed > 0 THEN 2 ELSE 0 END + f.retried + f.abandoned,
             f.model, f.prompt, CASE WHEN {} THEN 1 ELSE 0 END
         FROM ({turns} LIMIT ?) f JOIN turns t ON t.key = f.turn",
        VerdictStatus::Rejected.code(),
        query.mark.condition(),
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let (mut count, mut last) = (0, None::<i64>);
    while let Some(row) = &rows.next()? {
        count += 1;
        let ts: i64 = row.get(0)?;
        last = Some(last.map_or(ts, |last| last.min(ts)));
        let conversation: Option<Key> = row.get(2)?;
        let (score, model, prompt): (i64, String, String) = (row.get(3)?, row.get(4)?, row.get(5)?);
        let matches_query = row.get::<_, i64>(6)? == 1
            && query.model.as_ref().is_none_or(|wanted| *wanted == model)
            && query.prompt.as_ref().is_none_or(|wanted| is_of(&prompt, wanted));
        let Some(conversation) = conversation.filter(|_| matches_query && score > 0) else {
            continue;
        };
        let hit = Hit { ts, turn: row.get(1)?, conversation, project: scope.project };
        let rank = (score, ts, hit.turn);
        let bad = all.entry(conversation).or_insert(Bad { score: 0, worst: rank, hit });
        bad.score += score;
        if rank > bad.worst {
            (bad.worst, bad.hit) = (rank, hit);
        }
    }
    Ok((count, last))
}

/// True when the prompt matches: any version, unless one is named.
fn is_of(prompt: &str, wanted: &str) -> bool {
    prompt.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('@'))
}
