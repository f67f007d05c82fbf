//! The list of conversations. Every page examines a bounded number of turns, by an index over time.

mod found;
mod words;
mod worst;

use std::collections::HashSet;

use model::{Project, Scope, Tenant, Timestamp, UserId, VerdictStatus, Window};
use sql::{Connection, Value, params_from_iter};

use crate::error::{StoreError, Task};
use crate::projections::word_index;
use crate::queries::exchanges::StoredExchange;
use crate::row_keys::{Key, Table, find_key};
use crate::store::{Engine, Store};

// One list: the flag, its name, and its SQL condition.
macro_rules! marks {
    ($($(#[$doc:meta])* $mark:ident $word:literal $sql:literal),+ $(,)?) => {
        /// A property of a turn by which the list can be filtered.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TurnMark { $($(#[$doc])* $mark),+ }

        impl TurnMark {
            pub const ALL: &[Self] = &[$(Self::$mark),+];

            pub const fn as_word(self) -> &'static str {
                match self { $(Self::$mark => $word),+ }
            }

            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|mark| mark.as_word() == word)
            }

            /// The SQL condition on the facts `f`.
            pub(crate) fn condition(self) -> String {
                let condition = match self { $(Self::$mark => $sql),+ };
                let code = |status: VerdictStatus| status.code().to_string();
                condition
                    .replace("REJECTED", &code(VerdictStatus::Rejected))
                    .replace("ACCEPTED", &code(VerdictStatus::Accepted))
            }
        }
    };
}

marks! {
    All "all" "1 = 1",
    Trouble "trouble" "f.negative = 1",
    Rejected "rejected" "f.negative = 1 AND f.answered = 1 AND f.status = REJECTED",
    Wrong "wrong" "f.negative = 1 AND f.answered = 1 AND (f.status = REJECTED OR f.corrected = 1)",
    Accepted "accepted" "f.answered = 1 AND f.status = ACCEPTED",
    Corrected "corrected" "f.negative = 1 AND f.corrected = 1",
    /// The application or the detector reported a failure.
    Failed "failed" "f.negative = 1 AND f.failed > 0",
    Ok "ok" "f.ok > 0",
    NotOk "not_ok" "f.negative = 1 AND f.not_ok > 0",
    Reacted "reacted" "f.ok + f.not_ok + f.neutral > 0",
    /// Any signal from a person.
    Heard "heard" "(f.ok + f.not_ok + f.neutral > 0 OR f.heard = 1 OR f.corrected = 1)",
    Retried "retried" "f.retried = 1",
    Refined "refined" "f.refined = 1",
    Abandoned "abandoned" "f.abandoned = 1",
    Disagreed "disagreed" "f.both = 1 AND f.agree = 0",
    /// Rejected by the machine, without a person's verdict.
    ToReview "to_review" "f.negative = 1 AND f.answered = 1 AND f.status = REJECTED
        AND f.ok + f.not_ok + f.neutral = 0 AND f.corrected = 0 AND NOT EXISTS (
            SELECT 1 FROM turn_index i WHERE i.turn = f.turn AND i.reviewed IS NOT NULL)",
    Slow "slow" "f.millis > 10000",
}

impl TurnMark {
    /// True when only turns with a problem can have the flag.
    pub(crate) const fn is_negative(self) -> bool {
        match self {
            Self::Trouble
            | Self::Rejected
            | Self::Wrong
            | Self::Corrected
            | Self::Failed
            | Self::ToReview
            | Self::NotOk => true,
            Self::All
            | Self::Accepted
            | Self::Ok
            | Self::Reacted
            | Self::Heard
            | Self::Retried
            | Self::Refined
            | Self::Abandoned
            | Self::Disagreed
            | Self::Slow => false,
        }
    }
}

/// The end of a page, opaque to callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListCursor(pub i64, pub i64);

/// Selects conversations that have a matching turn.
#[derive(Clone, Debug)]
pub struct ListQuery {
    pub tenant: Tenant,
    /// `None`: all projects.
    pub project: Option<Project>,
    pub window: Window,
    pub model: Option<String>,
    /// Answered with this prompt: `id` for all of its versions, or `id@version`.
    pub prompt: Option<String>,
    pub user: Option<UserId>,
    /// Words in the question, the answer or a comment. A word of three or more letters matches as a
    /// prefix. Only with the newest-first order.
    pub words: Option<String>,
    pub mark: TurnMark,
    /// The end of the previous page.
    pub behind: Option<ListCursor>,
    pub limit: usize,
}

/// A listed conversation with the turn that matched.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedConversation {
    pub scope: Scope,
    /// The newest matching turn.
    pub shown: StoredExchange,
    pub first: Timestamp,
    pub last: Timestamp,
    pub tally: ConversationTally,
}

/// Counts over a conversation's turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConversationTally {
    pub turns: u64,
    pub rejected: u64,
    pub corrected: u64,
    pub failed: u64,
    pub ok: u64,
    pub not_ok: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListPage {
    pub items: Vec<ListedConversation>,
    /// The start of the next page, if there may be one.
    pub next: Option<ListCursor>,
    /// The search stopped here before the page was full.
    pub stopped_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_has_its_word() {
        for mark in TurnMark::ALL {
            assert_eq!(TurnMark::from_word(mark.as_word()), Some(*mark));
            assert_eq!(mark.is_negative(), mark.condition().contains("f.negative = 1"), "{mark:?}");
        }
        assert_eq!(TurnMark::from_word("nothing"), None);
    }
}

/// Turns examined per round, growing until the page is full.
const CHUNKS: [i64; 4] = [400, 1_600, 6_000, 12_000];

impl Store {
    /// Lists conversations by their newest matching turn, newest first. Examines a bounded number
    /// of turns.
    pub fn newest_conversations(&self, query: ListQuery) -> Task<'_, ListPage> {
        Box::pin(async move {
            let Some(text) = query.words.clone() else {
                return self.pool.run(move |connection| newest(connection, &query)).await;
            };
            if let Engine::Sqlite { .. } = &self.engine
                && let Err(error) = self.writer.run(word_index::catch_up).await
            {
                // Messages that are indexed already are found anyway.
                tracing::debug!(%error, "indexing the newest messages failed; the search may miss them");
            }
            self.pool.run(move |connection| words::page(connection, &query, &text)).await
        })
    }

    /// Lists the conversations with the most recent problems, worst first. Examines a bounded
    /// number of turns.
    pub fn worst_conversations(&self, query: ListQuery) -> Task<'_, ListPage> {
        self.pool.run(move |connection| worst::page(connection, &query))
    }
}

/// A turn by which a conversation is found.
#[derive(Clone, Copy, Debug)]
struct Hit {
    ts: i64,
    turn: Key,
    conversation: Key,
    project: Key,
}

/// A turn's time and key.
type Spot = (i64, Key);

/// A project, and a user's key when only one user's turns match.
type Place = (Key, Option<Key>);

fn places(connection: &Connection, query: &ListQuery) -> sql::Result<Vec<Place>> {
    let sql = "SELECT key FROM projects
        WHERE tenant = ?1 AND (project = ?2 OR ?2 IS NULL) ORDER BY key";
    let project = query.project.as_ref().map(|project| project.as_str());
    let keys: Vec<Key> = connection
        .prepare_cached(sql)?
        .query_map((query.tenant.as_str(), project), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let Some(user) = &query.user else {
        return Ok(keys.into_iter().map(|key| (key, None)).collect());
    };
    let mut places = Vec::new();
    for key in keys {
        if let Some(user) = find_key(connection, Table::Users, key, user.as_str())? {
            places.push((key, Some(user)));
        }
    }
    Ok(places)
}

fn newest(connection: &Connection, query: &ListQuery) -> Result<ListPage, StoreError> {
    let mut hits = Vec::new();
    let mut stopped: Option<Spot> = None;
    for place in places(connection, query)? {
        let (found, ended) = walk(connection, query, place)?;
        hits.extend(found);
        // With several projects, the page reaches back as far as the project that stopped first.
        stopped = stopped.max(ended);
    }
    hits.sort_by_key(|hit| std::cmp::Reverse((hit.ts, hit.turn)));
    if let Some(end) = stopped {
        hits.retain(|hit| (hit.ts, hit.turn) >= end);
    }
    let more = hits.len() > query.limit;
    hits.truncate(query.limit);
    let last = hits.last().map(|hit| ListCursor(hit.ts, hit.turn));
    let next = match (more, stopped) {
        (true, _) => last,
        (false, Some((ts, turn))) => Some(ListCursor(ts, turn)),
        (false, None) => None,
    };
    let stopped_at = stopped.filter(|_| !more).map(|(ts, _)| Timestamp::from_micros(ts));
    Ok(ListPage { items: found::conversations(connection, &hits)?, next, stopped_at })
}

/// Searches back in time until the page is full. Returns where the search stopped early.
fn walk(
    connection: &Connection,
    query: &ListQuery,
    place: Place,
) -> Result<(Vec<Hit>, Option<Spot>), StoreError> {
    let (mut hits, mut seen) = (Vec::new(), HashSet::new());
    let end = query.window.end.as_micros();
    let mut from = query.behind.map_or((end, i64::MAX), |ListCursor(ts, turn)| (ts, turn));
    for most in CHUNKS {
        let found = chunk(connection, query, place, from, most)?;
        let fresh: Vec<Hit> =
            found.into_iter().filter(|hit| seen.insert(hit.conversation)).collect();
        hits.extend(not_shown_before(connection, query, fresh)?);
        let ended = conversation_end(connection, query, place, from, most)?;
        let Some(ended) = ended else { return Ok((hits, None)) };
        if hits.len() > query.limit {
            return Ok((hits, None));
        }
        from = ended;
    }
    Ok((hits, Some(from)))
}

/// Selects turns of a project after a turn, newest first.
fn turns_of(query: &ListQuery, (project, user): Place, from: Spot) -> (String, Vec<Value>) {
    let (index, more) = match (user, query.mark.is_negative()) {
        (Some(_), _) => ("turn_facts_by_user", "user = ? AND ts IS NOT NULL AND "),
        (None, true) => ("turn_facts_negative", "negative = 1 AND "),
        (None, false) => ("turn_facts_by_time", "ts IS NOT NULL AND "),
    };
    let sql = format!(
        "SELECT * FROM turn_facts INDEXED BY {index}
         WHERE {more}project = ? AND ts >= ? AND ts <= ? AND (ts, turn) < (?, ?)
         ORDER BY ts DESC, turn DESC"
    );
    let start = query.window.start.as_micros();
    let rest = [project, start, from.0, from.0, from.1];
    let values = user.into_iter().chain(rest).map(Value::from).collect();
    (sql, values)
}

fn chunk(
    connection: &Connection,
    query: &ListQuery,
    place: Place,
    from: Spot,
    most: i64,
) -> sql::Result<Vec<Hit>> {
    let (turns, mut values) = turns_of(query, place, from);
    values.push(Value::from(most));
    let sql = format!(
        "SELECT f.ts, f.turn, t.conversation FROM ({turns} LIMIT ?) f JOIN turns t ON t.key = f.turn
         WHERE t.conversation IS NOT NULL AND {} ORDER BY f.ts DESC, f.turn DESC",
        wanted(query, &mut values)
    );
    let hit = |row: &sql::Row<'_>| {
        let (ts, turn, conversation) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Hit { ts, turn, conversation, project: place.0 })
    };
    connection.prepare_cached(&sql)?.query_map(params_from_iter(values), hit)?.collect()
}

/// The SQL condition on `f`. Its parameters are appended to `values`.
fn wanted(query: &ListQuery, values: &mut Vec<Value>) -> String {
    let mut terms = vec![query.mark.condition()];
    if let Some(model) = &query.model {
        terms.push("f.model = ?".to_owned());
        values.push(Value::from(model.clone()));
    }
    if let Some(prompt) = &query.prompt {
        terms.push("(f.prompt = ? OR substr(f.prompt, 1, length(?) + 1) = ? || '@')".to_owned());
        values.extend([prompt, prompt, prompt].map(|prompt| Value::from(prompt.clone())));
    }
    terms.join(" AND ")
}

fn conversation_end(
    connection: &Connection,
    query: &ListQuery,
    place: Place,
    from: Spot,
    most: i64,
) -> sql::Result<Option<Spot>> {
    let (turns, mut values) = turns_of(query, place, from);
    values.push(Value::from(most - 1));
    let sql = format!("{} LIMIT 1 OFFSET ?", turns.replacen('*', "ts, turn", 1));
    let both = |row: &sql::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params_from_iter(values), both)?.next().transpose()
}

/// Excludes conversations that an earlier page showed by a newer turn.
fn not_shown_before(
    connection: &Connection,
    query: &ListQuery,
    hits: Vec<Hit>,
) -> sql::Result<Vec<Hit>> {
    let Some(ListCursor(ts, turn)) = query.behind.filter(|_| !hits.is_empty()) else {
        return Ok(hits);
    };
    let mut values =
        vec![Value::from(query.window.end.as_micros()), Value::from(ts), Value::from(turn)];
    let sql = format!(
        "SELECT DISTINCT t.conversation FROM turns t JOIN turn_facts f ON f.turn = t.key
         WHERE t.conversation IN ({}) AND f.ts <= ? AND (f.ts, f.turn) >= (?, ?) AND {}",
        listed(hits.iter().map(|hit| hit.conversation)),
        wanted(query, &mut values)
    );
    let mut statement = connection.prepare(&sql)?;
    let shown: HashSet<Key> = statement
        .query_map(params_from_iter(values), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(hits.into_iter().filter(|hit| !shown.contains(&hit.conversation)).collect())
}

/// A comma-separated list of keys.
fn listed(keys: impl Iterator<Item = Key>) -> String {
    let texts: Vec<String> = keys.map(|key| key.to_string()).collect();
    texts.join(",")
}
