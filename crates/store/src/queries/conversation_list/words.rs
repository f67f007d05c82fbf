//! Full-text search of conversations, newest first.

use std::collections::HashSet;

use sql::{Connection, Value, params_from_iter};
use unicode_normalization::char::is_combining_mark;

use super::filter::wanted_in;
use super::{CHUNKS, Hit, PageHits, SearchScope, cut_page, find_search_scopes, listed, turn_page};
use crate::error::StoreError;
use crate::queries::conversation_list::{ListCursor, ListQuery, TurnPage};
use crate::row_keys::Key;

const MAX_WORDS: usize = 10;
/// Words of at least this many letters match as a prefix.
const STEM: usize = 3;

/// A matching message: position, time, and its turn when the turn matches too.
type Message = (i64, i64, Option<Hit>);

/// The unit that a search shows once, by its newest matching message.
#[derive(Clone, Copy, Debug)]
enum Group {
    Conversation,
    Turn,
}

impl Group {
    fn key(self, hit: &Hit) -> Key {
        match self {
            Self::Conversation => hit.conversation,
            Self::Turn => hit.turn,
        }
    }

    /// The key's column in `turns t`.
    fn column(self) -> &'static str {
        match self {
            Self::Conversation => "t.conversation",
            Self::Turn => "t.key",
        }
    }
}

/// Messages that are examined for a count.
const MAX_COUNTED_MESSAGES: i64 = 10_000;

/// Matching conversations by their newest matching message. A cursor holds the position of the last
/// message that was examined or shown.
pub(super) fn hits(
    connection: &Connection,
    query: &ListQuery,
    text: &str,
) -> sql::Result<PageHits> {
    let (hits, stopped) = search(connection, query, text, Group::Conversation)?;
    Ok(cut_page(query, hits, stopped))
}

/// Matching turns by their newest matching message.
pub(super) fn turns(connection: &Connection, query: &ListQuery) -> Result<TurnPage, StoreError> {
    let text = query.words.as_deref().unwrap_or_default();
    let (mut hits, stopped) = search(connection, query, text, Group::Turn)?;
    hits.sort_by_key(|(cursor, _)| std::cmp::Reverse(*cursor));
    turn_page::finish(connection, query.limit, hits, stopped.map(|(end, _)| end))
}

/// Counts matching conversations, and whether older messages were left out.
pub(super) fn count(connection: &Connection, query: &ListQuery) -> sql::Result<(u64, bool)> {
    let words = split(connection, query.words.as_deref().unwrap_or_default());
    let (mut conversations, mut is_capped) = (HashSet::new(), false);
    for scope in find_search_scopes(connection, query)?.into_iter().filter(|_| !words.is_empty()) {
        let matching = matching(connection, scope.project, &words);
        let search = Search { query, scope, matching, group: Group::Conversation };
        let messages = search.messages(connection, i64::MAX, MAX_COUNTED_MESSAGES)?;
        is_capped |= messages.len() as i64 == MAX_COUNTED_MESSAGES;
        conversations
            .extend(messages.into_iter().filter_map(|(_, _, hit)| Some(hit?.conversation)));
    }
    Ok((conversations.len() as u64, is_capped))
}

/// All hits, one per group, and the end and the time of a search that stopped early.
type SearchHits = (Vec<(ListCursor, Hit)>, Option<(ListCursor, i64)>);

fn search(
    connection: &Connection,
    query: &ListQuery,
    text: &str,
    group: Group,
) -> sql::Result<SearchHits> {
    let words = split(connection, text);
    if words.is_empty() {
        return Ok((Vec::new(), None));
    }
    let shown = query.behind.map(|end| end.rank);
    let mut hits: Vec<(ListCursor, Hit)> = Vec::new();
    let mut stopped: Option<(i64, i64)> = None;
    for scope in find_search_scopes(connection, query)? {
        let matching = matching(connection, scope.project, &words);
        let search = Search { query, scope, matching, group };
        stopped = stopped.max(search.walk(connection, shown, &mut hits)?);
    }
    let stopped = stopped.map(|(position, ts)| (ListCursor { rank: position, key: 0 }, ts));
    if let Some((end, _)) = stopped {
        hits.retain(|(cursor, _)| *cursor >= end);
    }
    Ok((hits, stopped))
}

/// Splits text into words as the index does: lower case, separated by anything but letters and
/// digits. Postgres keeps combining marks, such as Hindi or Thai vowels, inside words. SQLite
/// splits there, except at accents, which it drops. The index has no phrases, so a query never
/// joins what SQLite splits.
fn split(connection: &Connection, text: &str) -> Vec<String> {
    let is_sqlite = connection.sqlite().is_some();
    let is_inside = |c: char| match is_sqlite {
        true => is_accent(c) || c.is_alphanumeric() && !is_combining_mark(c) && !is_framed(c),
        false => c.is_alphanumeric() || is_combining_mark(c),
    };
    // An accent without a letter belongs to no word.
    let parts = text.split(|c: char| !is_inside(c)).map(|part| part.trim_start_matches(is_accent));
    let words = parts.filter(|word| !word.is_empty());
    words.take(MAX_WORDS).map(str::to_lowercase).collect()
}

/// Combining accents that SQLite drops.
fn is_accent(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{304}'
            | '\u{306}'..='\u{30c}'
            | '\u{30f}'
            | '\u{311}'
            | '\u{31b}'
            | '\u{323}'..='\u{328}'
            | '\u{32d}'
            | '\u{32e}'
            | '\u{330}'
            | '\u{331}'
    )
}

/// Enclosed letters count as letters, but SQLite treats them as symbols.
fn is_framed(c: char) -> bool {
    matches!(c, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}')
}

/// The search expression: all words, in this project.
fn matching(connection: &Connection, project: Key, words: &[String]) -> String {
    let (quote, any, and) = match connection.sqlite() {
        Some(_) => ("\"", "*", " AND "),
        None => ("'", ":*", " & "),
    };
    let word = |word: &String| {
        let rest = if word.chars().count() < STEM { "" } else { any };
        format!("{quote}{word}{quote}{rest}")
    };
    let project = format!("{quote}p{project}p{quote}");
    std::iter::once(project).chain(words.iter().map(word)).collect::<Vec<_>>().join(and)
}

struct Search<'a> {
    query: &'a ListQuery,
    scope: SearchScope,
    matching: String,
    group: Group,
}

impl Search<'_> {
    /// Searches back in the log, from where an earlier page ended, until the page is full. Returns
    /// where the search stopped early.
    fn walk(
        &self,
        connection: &Connection,
        shown: Option<i64>,
        hits: &mut Vec<(ListCursor, Hit)>,
    ) -> sql::Result<Option<(i64, i64)>> {
        let mut seen = HashSet::new();
        let (mut before, mut fresh) = ((shown.unwrap_or(i64::MAX), 0), 0);
        for most in CHUNKS {
            let messages = self.messages(connection, before.0, most)?;
            let is_last = (messages.len() as i64) < most;
            let mut found = Vec::new();
            for (position, ts, hit) in messages {
                before = (position, ts);
                let hit = hit.filter(|hit| seen.insert(self.group.key(hit)));
                found.extend(hit.map(|hit| (ListCursor { rank: position, key: hit.turn }, hit)));
            }
            if let Some(shown) = shown.filter(|_| !found.is_empty()) {
                let known = self.shown_since(connection, shown, &found)?;
                found.retain(|(_, hit)| !known.contains(&self.group.key(hit)));
            }
            fresh += found.len();
            hits.extend(found);
            if is_last || fresh > self.query.limit {
                return Ok(None);
            }
        }
        Ok(Some(before))
    }

    /// The groups of hits that an earlier page showed by a newer message.
    fn shown_since(
        &self,
        connection: &Connection,
        since: i64,
        hits: &[(ListCursor, Hit)],
    ) -> sql::Result<HashSet<Key>> {
        let (column, window) = (self.group.column(), self.query.window);
        let (start, end) = (window.start.as_micros(), window.end.as_micros());
        let mut values = [since, self.scope.project, start, end].map(Value::from).to_vec();
        let terms = wanted_in(self.query, self.scope, &mut values);
        let newer = format!(
            "SELECT {column}, e.position FROM turns t
             JOIN turn_facts f ON f.turn = t.key JOIN events e ON e.turn = t.key
             WHERE {column} IN ({}) AND e.position >= ?
                 AND f.project = ? AND f.ts >= ? AND f.ts <= ? AND {terms}",
            listed(hits.iter().map(|(_, hit)| self.group.key(hit)))
        );
        values.push(Value::from(self.matching.clone()));
        let sql = match connection.sqlite() {
            Some(_) => {
                values.push(Value::from(since));
                // One pass over the index. Looking up each message would expand prefixes each time.
                format!(
                    "WITH newer (shown, position) AS MATERIALIZED ({newer})
                     SELECT DISTINCT newer.shown FROM event_words
                     CROSS JOIN newer ON newer.position = event_words.rowid
                     WHERE event_words MATCH ? AND event_words.rowid >= ?"
                )
            }
            None => format!(
                "{newer} AND e.source IN (4, 5, 6, 15, 16)
                     AND said_words(e.project, e.data) @@ CAST(? AS TEXT)::tsquery"
            ),
        };
        let shown =
            connection.prepare(&sql)?.read_rows_with(params_from_iter(values), |row| row.get(0))?;
        Ok(shown.into_iter().collect())
    }

    /// Matching messages before a position, newest first.
    fn messages(
        &self,
        connection: &Connection,
        before: i64,
        most: i64,
    ) -> sql::Result<Vec<Message>> {
        let said = match connection.sqlite() {
            Some(_) => {
                "SELECT e.position, e.ts, e.turn FROM event_words
                 JOIN events e ON e.position = event_words.rowid
                 WHERE event_words MATCH ? AND event_words.rowid < ?
                 ORDER BY event_words.rowid DESC LIMIT ?"
            }
            None => {
                "SELECT position, ts, turn FROM events
                 WHERE turn IS NOT NULL AND source IN (4, 5, 6, 15, 16)
                     AND said_words(project, data) @@ CAST(? AS TEXT)::tsquery AND position < ?
                 ORDER BY position DESC LIMIT ?"
            }
        };
        let (project, window) = (self.scope.project, self.query.window);
        let (start, end) = (window.start.as_micros(), window.end.as_micros());
        let mut values = vec![Value::from(self.matching.clone())];
        values.extend([before, most, project, start, end].map(Value::from));
        let terms = wanted_in(self.query, self.scope, &mut values);
        let sql = format!(
            "SELECT s.position, s.ts, f.ts, f.turn, t.conversation FROM ({said}) s
             LEFT JOIN turn_facts f ON f.turn = s.turn AND f.project = ? AND f.ts >= ? AND f.ts <= ? AND {terms}
             LEFT JOIN turns t ON t.key = f.turn
             ORDER BY s.position DESC"
        );
        connection.read_rows_with(&sql, params_from_iter(values), |row| {
            let hit = match (row.get(2)?, row.get(3)?, row.get(4)?) {
                (Some(ts), Some(turn), Some(conversation)) => {
                    Some(Hit { ts, turn, conversation, project })
                }
                _ => None,
            };
            Ok((row.get(0)?, row.get(1)?, hit))
        })
    }
}
