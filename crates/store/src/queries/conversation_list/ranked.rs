//! Lists the conversations with the most problems, the highest cost or the slowest answers.

use std::collections::HashMap;

use model::{Timestamp, VerdictStatus};
use sql::{Connection, Value, params_from_iter};

use super::filter::wanted;
use super::{Hit, PageHits, SearchScope, find_search_scopes, turns_of};
use crate::queries::conversation_list::{ListCursor, ListQuery, TurnMark};
use crate::row_keys::Key;

/// The newest turns that are examined.
const MAX_TURNS: i64 = 10_000;

/// The order of the conversations, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankedBy {
    /// Signals of people weigh more than the machine's.
    Problems,
    /// The sum over the turns.
    Cost,
    /// The slowest answer.
    Latency,
}

impl RankedBy {
    /// The contribution of the turn `f`.
    fn expression(self) -> String {
        match self {
            Self::Problems => format!(
                "4 * f.not_ok + 3 * f.corrected + CASE WHEN f.status = {} THEN 2 ELSE 0 END
                     + CASE WHEN f.failed > 0 THEN 2 ELSE 0 END
                     + CASE WHEN f.comments_negative > 0 THEN 2 ELSE 0 END
                     + f.retried + f.abandoned",
                VerdictStatus::Rejected.code()
            ),
            Self::Cost => "f.cost".to_owned(),
            Self::Latency => "coalesce(f.millis, 0)".to_owned(),
        }
    }
}

/// The rank of a conversation and its highest turn, the newest among equals.
struct Ranked {
    score: i64,
    highest: (i64, i64, Key),
    hit: Hit,
}

/// The query whose turns are examined: for problems, only turns with one.
pub(super) fn walked(query: &ListQuery, rank: RankedBy) -> ListQuery {
    match rank {
        RankedBy::Problems if query.mark == TurnMark::All => {
            ListQuery { mark: TurnMark::Trouble, ..query.clone() }
        }
        RankedBy::Problems | RankedBy::Cost | RankedBy::Latency => query.clone(),
    }
}

/// Lists the highest first. Conversations with a score of 0 are left out.
pub(super) fn hits(
    connection: &Connection,
    query: &ListQuery,
    rank: RankedBy,
) -> sql::Result<PageHits> {
    let mut all: HashMap<Key, Ranked> = HashMap::new();
    let mut stopped: Option<i64> = None;
    for scope in find_search_scopes(connection, query)? {
        stopped = stopped.max(add(connection, query, scope, rank, &mut all)?);
    }
    let mut all: Vec<Ranked> = all.into_values().collect();
    let cursor = |one: &Ranked| ListCursor { rank: one.score, key: one.hit.conversation };
    if let Some(behind) = query.behind {
        all.retain(|one| cursor(one) < behind);
    }
    all.sort_by_key(|one| std::cmp::Reverse(cursor(one)));
    let more = all.len() > query.limit;
    all.truncate(query.limit);
    let last = all.last().map(cursor);
    Ok(PageHits {
        hits: all.iter().map(|one| one.hit).collect(),
        next: last.filter(|_| more),
        stopped_at: stopped.filter(|_| !more).map(Timestamp::from_micros),
    })
}

/// Adds the turns of a scope. Returns the time of the oldest examined one when there are more.
fn add(
    connection: &Connection,
    query: &ListQuery,
    scope: SearchScope,
    rank: RankedBy,
    all: &mut HashMap<Key, Ranked>,
) -> sql::Result<Option<i64>> {
    let from = ListCursor { rank: query.window.end.as_micros(), key: i64::MAX };
    let examined = match rank {
        // Only turns with a problem count, whatever the other filters.
        RankedBy::Problems => ListQuery { mark: TurnMark::Trouble, ..query.clone() },
        RankedBy::Cost | RankedBy::Latency => query.clone(),
    };
    let (turns, mut values) = turns_of(&examined, scope, from);
    let last = format!("{} LIMIT 1 OFFSET ?", turns.replacen('*', "ts, turn", 1));
    let offset = values.iter().cloned().chain([Value::from(MAX_TURNS - 1)]);
    let last: Option<(i64, Key)> = connection.find_row(&last, params_from_iter(offset))?;
    values.push(Value::from(MAX_TURNS));
    let sql = format!(
        "SELECT f.ts, f.turn, t.conversation, {}
         FROM ({turns} LIMIT ?) f JOIN turns t ON t.key = f.turn
         WHERE t.conversation IS NOT NULL AND {}",
        rank.expression(),
        wanted(query, &mut values),
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    while let Some(row) = &rows.next()? {
        let (ts, turn, conversation, score): (i64, Key, Key, i64) = row.read()?;
        if score <= 0 {
            continue;
        }
        let hit = Hit { ts, turn, conversation, project: scope.project };
        let highest = (score, ts, turn);
        let one = all.entry(conversation).or_insert(Ranked { score: 0, highest, hit });
        one.score = match rank {
            RankedBy::Problems | RankedBy::Cost => one.score.saturating_add(score),
            RankedBy::Latency => one.score.max(score),
        };
        if highest > one.highest {
            (one.highest, one.hit) = (highest, hit);
        }
    }
    Ok(last.map(|(ts, _)| ts))
}
