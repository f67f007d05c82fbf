//! Reads the list of conversations. Every page looks at a bounded number of turns, by an index over time.

mod found;
mod words;
mod worst;

use std::collections::HashSet;

use model::Timestamp;

use super::keys::{Key, Table, find_key};
use super::words as index;
use super::{Engine, Store};
use crate::error::StoreError;
use crate::log::Task;
use crate::read::listed::{ListMark, ListPage, ListQuery};
use sql::{Connection, Value, params_from_iter};

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
                && let Err(error) = self.writer.run(index::catch_up).await
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
    let last = hits.last().map(|hit| ListMark(hit.ts, hit.turn));
    let next = match (more, stopped) {
        (true, _) => last,
        (false, Some((ts, turn))) => Some(ListMark(ts, turn)),
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
    let mut from = query.behind.map_or((end, i64::MAX), |ListMark(ts, turn)| (ts, turn));
    for most in CHUNKS {
        let found = chunk(connection, query, place, from, most)?;
        let fresh: Vec<Hit> =
            found.into_iter().filter(|hit| seen.insert(hit.conversation)).collect();
        hits.extend(not_shown_before(connection, query, fresh)?);
        let ended = last_of(connection, query, place, from, most)?;
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
fn last_of(
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
    let Some(ListMark(ts, turn)) = query.behind.filter(|_| !hits.is_empty()) else {
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
