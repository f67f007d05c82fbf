//! Reads the list of conversations. Every page looks at a bounded number of turns, by an index over time.

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

// One list: the mark, its word, and what makes a turn have it.
macro_rules! marks {
    ($($(#[$doc:meta])* $mark:ident $word:literal $sql:literal),+ $(,)?) => {
        /// What can be said of a turn, by which it is found.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TurnMark { $($(#[$doc])* $mark),+ }

        impl TurnMark {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$mark),+];

            /// The word for it.
            pub const fn as_word(self) -> &'static str {
                match self { $(Self::$mark => $word),+ }
            }

            /// The mark of a word.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|mark| mark.as_word() == word)
            }

            /// What its facts (`f`) have.
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
    /// Every turn.
    All "all" "1 = 1",
    /// Something about it went wrong.
    Trouble "trouble" "f.negative = 1",
    /// It was rejected.
    Rejected "rejected" "f.negative = 1 AND f.answered = 1 AND f.status = REJECTED",
    /// It was rejected or corrected.
    Wrong "wrong" "f.negative = 1 AND f.answered = 1 AND (f.status = REJECTED OR f.corrected = 1)",
    /// It was accepted.
    Accepted "accepted" "f.answered = 1 AND f.status = ACCEPTED",
    /// It was corrected.
    Corrected "corrected" "f.negative = 1 AND f.corrected = 1",
    /// It failed by itself.
    Failed "failed" "f.negative = 1 AND f.failed > 0",
    /// A user reacted well.
    Ok "ok" "f.ok > 0",
    /// A user reacted badly.
    NotOk "not_ok" "f.negative = 1 AND f.not_ok > 0",
    /// A user reacted at all.
    Reacted "reacted" "f.ok + f.not_ok + f.neutral > 0",
    /// A person gave any sign.
    Heard "heard" "(f.ok + f.not_ok + f.neutral > 0 OR f.heard = 1 OR f.corrected = 1)",
    /// Its question was asked again.
    Retried "retried" "f.retried = 1",
    /// It refines an earlier question.
    Refined "refined" "f.refined = 1",
    /// Its session was abandoned after it.
    Abandoned "abandoned" "f.abandoned = 1",
    /// User and machine say the contrary of each other.
    Disagreed "disagreed" "f.both = 1 AND f.agree = 0",
    /// The machine thinks that it was rejected, and no person said anything.
    ToReview "to_review" "f.negative = 1 AND f.answered = 1 AND f.status = REJECTED
        AND f.ok + f.not_ok + f.neutral = 0 AND f.corrected = 0 AND NOT EXISTS (
            SELECT 1 FROM turn_index i WHERE i.turn = f.turn AND i.reviewed IS NOT NULL)",
    /// It took longer than people bear.
    Slow "slow" "f.millis > 10000",
}

impl TurnMark {
    /// Whether only turns of which something went wrong can have it.
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

/// Where a page of the list ends: two numbers that only the store understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListCursor(pub i64, pub i64);

/// Which conversations are wanted: those that have a turn like this.
#[derive(Clone, Debug)]
pub struct ListQuery {
    pub tenant: Tenant,
    /// Of which project; of all when absent.
    pub project: Option<Project>,
    pub window: Window,
    pub model: Option<String>,
    /// Answered with this prompt: `id` for all of its versions, or `id@version`.
    pub prompt: Option<String>,
    pub user: Option<UserId>,
    /// Something with these words was said in it: by the user, in the answer, or about it. A word of three
    /// letters or more finds all that begin with it. Only for the newest first.
    pub words: Option<String>,
    pub mark: TurnMark,
    /// Behind this one, when they are read page by page.
    pub behind: Option<ListCursor>,
    pub limit: usize,
}

/// A conversation on the list, with the turn by which it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedConversation {
    pub scope: Scope,
    /// The newest turn that is like what is wanted.
    pub shown: StoredExchange,
    pub first: Timestamp,
    pub last: Timestamp,
    pub tally: ConversationTally,
}

/// How many turns of a conversation were how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConversationTally {
    pub turns: u64,
    pub rejected: u64,
    pub corrected: u64,
    pub failed: u64,
    pub ok: u64,
    pub not_ok: u64,
}

/// A page of the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListPage {
    pub items: Vec<ListedConversation>,
    /// Where the next page begins, if there may be one.
    pub next: Option<ListCursor>,
    /// The search went back to here and no further, before it found as many as wanted.
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

/// Turns that are looked at, more each time, until there are enough conversations.
const CHUNKS: [i64; 4] = [400, 1_600, 6_000, 12_000];

impl Store {
    /// By their newest turn that is like what is wanted, the newest first. Looks at a bounded number of turns.
    pub fn newest_conversations(&self, query: ListQuery) -> Task<'_, ListPage> {
        Box::pin(async move {
            let Some(text) = query.words.clone() else {
                return self.pool.run(move |connection| newest(connection, &query)).await;
            };
            if let Engine::Sqlite { .. } = &self.engine
                && let Err(error) = self.writer.run(word_index::catch_up).await
            {
                // What was said before is found all the same.
                tracing::debug!(%error, "the last messages are not among those that are searched");
            }
            self.pool.run(move |connection| words::page(connection, &query, &text)).await
        })
    }

    /// Those of which most went wrong lately, the worst first. Looks at a bounded number of turns.
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

/// A turn's time and number: where it stands among all.
type Spot = (i64, Key);

/// A project, and the user's number there where only one's turns are wanted.
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
        // Of several projects the page reaches as far back as the one that was given up first.
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

/// Goes back in time until there are enough conversations; says where it was given up, if it was.
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

/// Turns of a place behind one, newest first.
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

/// Which turns of `f` are meant. What its question marks stand for comes behind the values that are there.
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

/// The last of so many turns, if there are so many.
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

/// Without conversations that an earlier page showed, by a newer turn.
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

/// Numbers of ours, one after the other.
fn listed(keys: impl Iterator<Item = Key>) -> String {
    let texts: Vec<String> = keys.map(|key| key.to_string()).collect();
    texts.join(",")
}
