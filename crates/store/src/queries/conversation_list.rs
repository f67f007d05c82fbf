//! The list of conversations. Every page examines a bounded number of turns, by an index over time.

mod filter;
mod found;
mod ranked;
mod summary;
mod turn_page;
mod words;

use std::collections::HashSet;

use model::{Project, Scope, Tenant, Timestamp, UserId, VerdictStatus, Window};
use sql::{Connection, Value, params_from_iter};

use crate::error::{StoreError, Task};
use crate::projections::word_index;
use crate::queries::exchanges::StoredExchange;
use crate::row_keys::{Key, Table, find_key, find_projects};
use crate::store::{Engine, Store};
use filter::{wanted, wanted_in};

pub use filter::TurnFilter;
pub use ranked::RankedBy;
pub use summary::{ConversationSummary, SummaryCounts, SummaryPage};
pub use turn_page::TurnPage;

// One list: the flag, its name, and its SQL condition.
macro_rules! marks {
    ($($(#[$doc:meta])* $mark:ident $word:literal $sql:literal),+ $(,)?) => {
        /// A property of a turn by which the list can be filtered.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TurnMark { $($(#[$doc])* $mark),+ }

        impl TurnMark {
            pub const ALL_MARKS: &[Self] = &[$(Self::$mark),+];

            pub const fn as_word(self) -> &'static str {
                match self { $(Self::$mark => $word),+ }
            }

            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL_MARKS.iter().copied().find(|mark| mark.as_word() == word)
            }

            const fn template(self) -> &'static str {
                match self { $(Self::$mark => $sql),+ }
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
    /// The SQL condition on the facts `f`.
    pub(crate) fn condition(self) -> String {
        let code = |status: VerdictStatus| status.code().to_string();
        self.template()
            .replace("REJECTED", &code(VerdictStatus::Rejected))
            .replace("ACCEPTED", &code(VerdictStatus::Accepted))
    }

    /// True when only turns with a problem can have the flag.
    pub(crate) fn is_negative(self) -> bool {
        self.template().starts_with("f.negative = 1")
    }
}

/// The end of a page, opaque to callers. Cursors are ordered by their fields, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListCursor {
    /// Of the page's last conversation: the turn's time, the message's log position in a search,
    /// or the score in the worst-first order.
    pub rank: i64,
    /// The turn; the conversation when ranked by a score.
    pub key: i64,
}

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
    pub filter: TurnFilter,
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

/// Turns examined per round, growing until the page is full.
const CHUNKS: [i64; 4] = [400, 1_600, 6_000, 12_000];

impl Store {
    /// Lists conversations by their newest matching turn. Examines a bounded number of turns.
    pub fn newest_conversations(&self, query: ListQuery) -> Task<'_, ListPage> {
        Box::pin(async move {
            self.index_new_words(&query).await;
            self.pool
                .run(move |connection| listed_page(connection, newest_hits(connection, &query)?))
                .await
        })
    }

    /// Lists conversations with recent problems, worst first. Examines a bounded number of turns.
    pub fn worst_conversations(&self, query: ListQuery) -> Task<'_, ListPage> {
        self.pool.run(move |connection| {
            listed_page(connection, ranked::hits(connection, &query, RankedBy::Problems)?)
        })
    }

    /// Lists conversations with counts: by rank, or newest first without one. Examines a bounded
    /// number of turns.
    pub fn conversation_summaries(
        &self,
        query: ListQuery,
        rank: Option<RankedBy>,
    ) -> Task<'_, SummaryPage> {
        Box::pin(async move {
            self.index_new_words(&query).await;
            self.pool
                .run(move |connection| {
                    let (found, total) = match rank {
                        Some(rank) => (
                            ranked::hits(connection, &query, rank)?,
                            turn_page::count(connection, &ranked::walked(&query, rank))?,
                        ),
                        None if query.words.is_some() => {
                            (newest_hits(connection, &query)?, words::count(connection, &query)?)
                        }
                        None => (
                            newest_hits(connection, &query)?,
                            turn_page::count(connection, &query)?,
                        ),
                    };
                    summary::page(connection, &found, total)
                })
                .await
        })
    }

    /// Lists matching turns, newest first. Examines a bounded number of turns.
    pub fn newest_turns(&self, query: ListQuery) -> Task<'_, TurnPage> {
        Box::pin(async move {
            self.index_new_words(&query).await;
            self.pool
                .run(move |connection| match query.words.is_some() {
                    true => words::turns(connection, &query),
                    false => turn_page::page(connection, &query),
                })
                .await
        })
    }

    /// Brings the word index of SQLite up to date before a search.
    async fn index_new_words(&self, query: &ListQuery) {
        if query.words.is_some()
            && let Engine::Sqlite(_) = &self.engine
            && let Err(error) = self.writer.run(word_index::catch_up).await
        {
            // Messages that are indexed already are found anyway.
            tracing::debug!(%error, "indexing the newest messages failed; the search may miss them");
        }
    }
}

fn newest_hits(connection: &Connection, query: &ListQuery) -> sql::Result<PageHits> {
    match &query.words {
        Some(text) => words::hits(connection, query, text),
        None => newest(connection, query),
    }
}

/// The hits of a page, in order.
struct PageHits {
    hits: Vec<Hit>,
    next: Option<ListCursor>,
    stopped_at: Option<Timestamp>,
}

fn listed_page(connection: &Connection, found: PageHits) -> Result<ListPage, StoreError> {
    let PageHits { hits, next, stopped_at } = found;
    Ok(ListPage { items: found::conversations(connection, &hits)?, next, stopped_at })
}

/// A turn by which a conversation is found.
#[derive(Clone, Copy, Debug)]
struct Hit {
    ts: i64,
    turn: Key,
    conversation: Key,
    project: Key,
}

/// A project to search.
#[derive(Clone, Copy, Debug)]
struct SearchScope {
    project: Key,
    /// Set when only this user's turns match.
    user: Option<Key>,
    /// Set when only turns of this conversation match.
    conversation: Option<Key>,
}

fn find_search_scopes(connection: &Connection, query: &ListQuery) -> sql::Result<Vec<SearchScope>> {
    let mut scopes = Vec::new();
    for project in find_projects(connection, &query.tenant, query.project.as_ref())? {
        let find = |table, id: Option<&str>| match id {
            None => Ok(Some(None)),
            Some(id) => find_key(connection, table, project, id).map(|key| key.map(Some)),
        };
        let user = find(Table::Users, query.user.as_ref().map(|id| id.as_str()))?;
        let conversation = query.filter.conversation.as_ref().map(|id| id.as_str());
        let conversation = find(Table::Conversations, conversation)?;
        // A project that does not know the user or the conversation has no match.
        if let (Some(user), Some(conversation)) = (user, conversation) {
            scopes.push(SearchScope { project, user, conversation });
        }
    }
    Ok(scopes)
}

fn newest(connection: &Connection, query: &ListQuery) -> sql::Result<PageHits> {
    let mut hits = Vec::new();
    let mut stopped: Option<ListCursor> = None;
    for scope in find_search_scopes(connection, query)? {
        // With several projects, the page reaches back as far as the project that stopped first.
        stopped = stopped.max(walk(connection, query, scope, &mut hits)?);
    }
    let cursor = |hit: &Hit| ListCursor { rank: hit.ts, key: hit.turn };
    let hits = hits.into_iter().map(|hit| (cursor(&hit), hit)).collect();
    Ok(cut_page(query, hits, stopped.map(|end| (end, end.rank))))
}

/// Cuts the page from all hits. `stopped` is the end and the time of a search that stopped early.
fn cut_page(
    query: &ListQuery,
    mut hits: Vec<(ListCursor, Hit)>,
    stopped: Option<(ListCursor, i64)>,
) -> PageHits {
    hits.sort_by_key(|(cursor, _)| std::cmp::Reverse(*cursor));
    if let Some((end, _)) = stopped {
        hits.retain(|(cursor, _)| *cursor >= end);
    }
    let more = hits.len() > query.limit;
    hits.truncate(query.limit);
    let last = hits.last().map(|(cursor, _)| *cursor);
    let next = if more { last } else { stopped.map(|(end, _)| end) };
    let stopped_at = stopped.filter(|_| !more).map(|(_, ts)| Timestamp::from_micros(ts));
    PageHits { hits: hits.into_iter().map(|(_, hit)| hit).collect(), next, stopped_at }
}

/// Searches back in time until the page is full. Returns where the search stopped early.
fn walk(
    connection: &Connection,
    query: &ListQuery,
    scope: SearchScope,
    hits: &mut Vec<Hit>,
) -> sql::Result<Option<ListCursor>> {
    let (mut fresh, mut seen) = (0, HashSet::new());
    let newest = ListCursor { rank: query.window.end.as_micros(), key: i64::MAX };
    let mut from = query.behind.unwrap_or(newest);
    for most in CHUNKS {
        let (mut found, ended) = chunk(connection, query, scope, from, most)?;
        found.retain(|hit| seen.insert(hit.conversation));
        let found = not_shown_before(connection, query, scope, found)?;
        fresh += found.len();
        hits.extend(found);
        let Some(ended) = ended.filter(|_| fresh <= query.limit) else { return Ok(None) };
        from = ended;
    }
    Ok(Some(from))
}

/// Selects turns of a project after a turn, newest first.
fn turns_of(query: &ListQuery, scope: SearchScope, from: ListCursor) -> (String, Vec<Value>) {
    let within = "project = ? AND ts >= ? AND ts <= ? AND (ts, turn) < (?, ?)";
    let selected = match (scope.conversation, scope.user, query.mark.is_negative()) {
        (Some(_), user, _) => {
            let by_user = if user.is_some() { "AND turn_facts.user = ?" } else { "" };
            // The order of the join keeps SQLite from examining all turns of the project by time.
            return (
                format!(
                    "SELECT turn_facts.* FROM turns CROSS JOIN turn_facts
                     WHERE turns.conversation = ? AND turn_facts.turn = turns.key {by_user}
                         AND turn_facts.project = ? AND turn_facts.ts >= ? AND turn_facts.ts <= ?
                         AND (turn_facts.ts, turn_facts.turn) < (?, ?)
                     ORDER BY turn_facts.ts DESC, turn_facts.turn DESC"
                ),
                turns_values(query, scope, from),
            );
        }
        (None, Some(_), _) => format!(
            "turn_facts INDEXED BY turn_facts_by_user
             WHERE user = ? AND ts IS NOT NULL AND {within}"
        ),
        (None, None, true) => {
            format!("turn_facts INDEXED BY turn_facts_negative WHERE negative = 1 AND {within}")
        }
        (None, None, false) => {
            format!("turn_facts INDEXED BY turn_facts_by_time WHERE ts IS NOT NULL AND {within}")
        }
    };
    let sql = format!("SELECT * FROM {selected} ORDER BY ts DESC, turn DESC");
    (sql, turns_values(query, scope, from))
}

/// The parameters of the statement that `turns_of` builds.
fn turns_values(query: &ListQuery, scope: SearchScope, from: ListCursor) -> Vec<Value> {
    let start = query.window.start.as_micros();
    let rest = [scope.project, start, from.rank, from.rank, from.key];
    let keys = scope.conversation.into_iter().chain(scope.user).chain(rest);
    keys.map(Value::from).collect()
}

/// The matching turns among the next `most`, and the last examined turn when more follow.
fn chunk(
    connection: &Connection,
    query: &ListQuery,
    scope: SearchScope,
    from: ListCursor,
    most: i64,
) -> sql::Result<(Vec<Hit>, Option<ListCursor>)> {
    let (turns, mut values) = turns_of(query, scope, from);
    let last = format!("{} LIMIT 1 OFFSET ?", turns.replacen('*', "ts, turn", 1));
    let offset = values.iter().cloned().chain([Value::from(most - 1)]);
    let last: Option<(i64, Key)> = connection.find_row(&last, params_from_iter(offset))?;
    values.push(Value::from(most));
    let sql = format!(
        "SELECT f.ts, f.turn, t.conversation FROM ({turns} LIMIT ?) f JOIN turns t ON t.key = f.turn
         WHERE t.conversation IS NOT NULL AND {} ORDER BY f.ts DESC, f.turn DESC",
        wanted(query, &mut values)
    );
    let hits = connection.read_rows_with(&sql, params_from_iter(values), |row| {
        let (ts, turn, conversation) = row.read()?;
        Ok::<_, sql::Error>(Hit { ts, turn, conversation, project: scope.project })
    })?;
    Ok((hits, last.map(|(ts, turn)| ListCursor { rank: ts, key: turn })))
}

/// Excludes conversations that an earlier page showed by a newer turn.
fn not_shown_before(
    connection: &Connection,
    query: &ListQuery,
    scope: SearchScope,
    hits: Vec<Hit>,
) -> sql::Result<Vec<Hit>> {
    let Some(ListCursor { rank, key }) = query.behind.filter(|_| !hits.is_empty()) else {
        return Ok(hits);
    };
    let mut values =
        vec![Value::from(query.window.end.as_micros()), Value::from(rank), Value::from(key)];
    let terms = wanted_in(query, scope, &mut values);
    let sql = format!(
        "SELECT DISTINCT t.conversation FROM turns t JOIN turn_facts f ON f.turn = t.key
         WHERE t.conversation IN ({}) AND f.ts <= ? AND (f.ts, f.turn) >= (?, ?) AND {terms}",
        listed(hits.iter().map(|hit| hit.conversation))
    );
    let shown =
        connection.prepare(&sql)?.read_rows_with(params_from_iter(values), |row| row.get(0))?;
    let shown: HashSet<Key> = shown.into_iter().collect();
    Ok(hits.into_iter().filter(|hit| !shown.contains(&hit.conversation)).collect())
}

/// A comma-separated list of keys.
fn listed(keys: impl Iterator<Item = Key>) -> String {
    let texts: Vec<String> = keys.map(|key| key.to_string()).collect();
    texts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_has_its_word() {
        for mark in TurnMark::ALL_MARKS {
            assert_eq!(TurnMark::from_word(mark.as_word()), Some(*mark));
            assert_eq!(mark.is_negative(), mark.condition().contains("f.negative = 1"), "{mark:?}");
        }
        assert_eq!(TurnMark::from_word("nothing"), None);
    }
}
