//! Conversations in which some words were said, the newest first.

use std::collections::HashSet;

use model::Timestamp;
use sql::{Connection, Value, params_from_iter};
use unicode_normalization::char::is_combining_mark;

use super::{CHUNKS, Hit, Place, found, places, wanted};
use crate::error::StoreError;
use crate::queries::conversation_list::{ListCursor, ListPage, ListQuery};
use crate::row_keys::Key;

/// Words of a search that count.
const MAX_WORDS: usize = 10;
/// A word that is as long as this finds every word that begins with it.
const STEM: usize = 3;

/// A message with the words: where it stands in the log, when, and its turn if that is like what is wanted.
type Message = (i64, i64, Option<Hit>);

/// Pages are told apart by the position of their last message and of the one where the search began: a
/// conversation is shown once in one search, however many of its messages have the words.
pub(crate) fn page(
    connection: &Connection,
    query: &ListQuery,
    text: &str,
) -> Result<ListPage, StoreError> {
    let words = split(connection, text);
    if words.is_empty() {
        return Ok(ListPage::default());
    }
    let ListCursor(shown, begun) = query.behind.unwrap_or(ListCursor(i64::MAX, i64::MAX));
    let mut hits: Vec<(i64, Hit)> = Vec::new();
    let mut stopped: Option<(i64, i64)> = None;
    for place in places(connection, query)? {
        let search = Search { query, place, matching: matching(connection, place.0, &words) };
        let ended = search.walk(connection, begun, shown, &mut hits)?;
        stopped = stopped.max(ended);
    }
    hits.sort_by_key(|(position, _)| std::cmp::Reverse(*position));
    if let Some((end, _)) = stopped {
        hits.retain(|(position, _)| *position >= end);
    }
    let more = hits.len() > query.limit;
    hits.truncate(query.limit);
    let next = match (more, stopped) {
        (true, _) => hits.last().map(|(position, _)| ListCursor(*position, begun)),
        (false, Some((end, _))) => Some(ListCursor(end, end)),
        (false, None) => None,
    };
    let stopped_at = stopped.filter(|_| !more).map(|(_, ts)| Timestamp::from_micros(ts));
    let hits: Vec<Hit> = hits.into_iter().map(|(_, hit)| hit).collect();
    Ok(ListPage { items: found::conversations(connection, &hits)?, next, stopped_at })
}

/// Words as the index knows them: by their small letters, parted at whatever is no letter and no digit. Marks, such as
/// vowels of Hindi or Thai, are inside of words in Postgres; SQLite parts words there, but for accents, which it leaves
/// out. Since its index has no phrases, it takes nothing for one word that it would part.
fn split(connection: &Connection, text: &str) -> Vec<String> {
    let is_sqlite = connection.sqlite().is_some();
    let is_inside = |c: char| match is_sqlite {
        true => is_accent(c) || c.is_alphanumeric() && !is_combining_mark(c) && !is_framed(c),
        false => c.is_alphanumeric() || is_combining_mark(c),
    };
    // An accent that follows no letter is in no word.
    let parts = text.split(|c: char| !is_inside(c)).map(|part| part.trim_start_matches(is_accent));
    let words = parts.filter(|word| !word.is_empty());
    words.take(MAX_WORDS).map(str::to_lowercase).collect()
}

/// Accents that are written behind their letter, as far as SQLite knows them.
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

/// Letters in circles and squares count as letters, but to SQLite they are signs.
fn is_framed(c: char) -> bool {
    matches!(c, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}')
}

/// The search as the index takes it: every word, in this project.
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
    place: Place,
    matching: String,
}

impl Search<'_> {
    /// Goes back in the log until there are enough conversations; says where it was given up, if it was.
    fn walk(
        &self,
        connection: &Connection,
        begun: i64,
        shown: i64,
        hits: &mut Vec<(i64, Hit)>,
    ) -> sql::Result<Option<(i64, i64)>> {
        let mut seen = HashSet::new();
        let (mut before, mut fresh) = ((begun, 0), 0);
        for most in CHUNKS {
            let messages = self.messages(connection, before.0, most)?;
            let is_last = (messages.len() as i64) < most;
            for (position, ts, hit) in messages {
                before = (position, ts);
                let Some(hit) = hit.filter(|hit| seen.insert(hit.conversation)) else { continue };
                if position < shown {
                    hits.push((position, hit));
                    fresh += 1;
                }
            }
            if is_last || fresh > self.query.limit {
                return Ok(None);
            }
        }
        Ok(Some(before))
    }

    /// Messages with the words before a position, the newest first.
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
        let (project, user) = self.place;
        let window = self.query.window;
        let mut values = vec![
            Value::from(self.matching.clone()),
            Value::from(before),
            Value::from(most),
            Value::from(project),
            Value::from(window.start.as_micros()),
            Value::from(window.end.as_micros()),
        ];
        let mut terms = wanted(self.query, &mut values);
        if let Some(user) = user {
            terms.push_str(" AND f.user = ?");
            values.push(Value::from(user));
        }
        let sql = format!(
            "SELECT s.position, s.ts, f.ts, f.turn, t.conversation FROM ({said}) s
             LEFT JOIN turn_facts f ON f.turn = s.turn AND f.project = ? AND f.ts >= ? AND f.ts <= ? AND {terms}
             LEFT JOIN turns t ON t.key = f.turn
             ORDER BY s.position DESC"
        );
        let message = |row: &sql::Row<'_>| {
            let parts: (Option<i64>, Option<Key>, Option<Key>) =
                (row.get(2)?, row.get(3)?, row.get(4)?);
            let hit = match parts {
                (Some(ts), Some(turn), Some(conversation)) => {
                    Some(Hit { ts, turn, conversation, project })
                }
                _ => None,
            };
            Ok((row.get(0)?, row.get(1)?, hit))
        };
        connection.prepare_cached(&sql)?.query_map(params_from_iter(values), message)?.collect()
    }
}
