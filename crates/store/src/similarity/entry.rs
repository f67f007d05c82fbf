//! Reads the index entry of a turn from the database.

use model::VerdictStatus;
use model::hash::Fnv32;
use sql::{Connection, Row};
use vector_index::{Labels, Quality, Tier, unpack};

use crate::row_keys::Key;
use crate::similarity::touched::Turns;

/// The longest chain of corrections whose questions are combined.
const MAX_BATCH_TURNS: usize = 4;

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) turn: Key,
    pub(crate) project: Key,
    pub(crate) labels: Labels,
    /// The turn that this turn's message corrects.
    pub(crate) corrects: Option<Key>,
}

const COLUMNS: &str = "i.turn, i.project, i.user_feedback_status, t.user, i.intent, i.corrects,
    i.quality_score, i.has_strategy, i.silent, t.ts";

/// Reads the entry of a turn; `None` without an answer.
pub(crate) fn read_entry(connection: &Connection, turn: Key) -> sql::Result<Option<Entry>> {
    connection.find_row_with(
        &format!(
            "SELECT {COLUMNS} FROM turn_index i JOIN turns t ON t.key = i.turn
             WHERE i.turn = ?1 AND i.completed = 1"
        ),
        [turn],
        read,
    )
}

/// A vector's model and packed form.
pub(crate) type StoredVector = (String, Vec<u8>);

/// Reads the touched turns that have an answer. On Postgres their vectors come along.
pub(crate) fn read_touched(
    connection: &Connection,
    touched: &Turns,
) -> sql::Result<Vec<(Entry, Option<Option<StoredVector>>)>> {
    #[cfg(feature = "scaled")]
    if let Some(session) = connection.postgres() {
        return read_touched_batch(session, touched);
    }
    let mut found = Vec::with_capacity(touched.len());
    for turn in touched.keys() {
        // Unanswered turns are not in the index. Answers disappear only with their tenant.
        found.extend(read_entry(connection, *turn)?.map(|entry| (entry, None)));
    }
    Ok(found)
}

#[cfg(feature = "scaled")]
fn read_touched_batch(
    session: &sql::Session,
    touched: &Turns,
) -> sql::Result<Vec<(Entry, Option<Option<StoredVector>>)>> {
    let turns: Vec<Key> = touched.keys().copied().collect();
    let sql = format!(
        "SELECT {COLUMNS}, v.model, v.vector
         FROM unnest($1::BIGINT[]) AS asked (turn)
         JOIN turn_index i ON i.turn = asked.turn AND i.completed = 1 JOIN turns t ON t.key = i.turn
         LEFT JOIN turn_vectors v ON v.turn = asked.turn"
    );
    let rows = session.ask_together(&[(&sql, &[&turns])])?;
    let read = |row| {
        let row = Row::Postgres(row);
        let (model, vector): (Option<String>, Option<Vec<u8>>) = (row.get(10)?, row.get(11)?);
        Ok((read(&row)?, Some(model.zip(vector))))
    };
    rows.iter().flatten().map(read).collect()
}

/// Answered turns with their vectors, after a key.
pub(crate) fn page(
    connection: &Connection,
    after: Key,
    limit: usize,
) -> sql::Result<Vec<(Entry, String, Vec<u8>)>> {
    connection.read_rows_with(
        &format!(
            "SELECT {COLUMNS}, v.model, v.vector FROM turn_vectors v
             JOIN turn_index i ON i.turn = v.turn JOIN turns t ON t.key = v.turn
             WHERE v.turn > ?1 AND i.completed = 1 ORDER BY v.turn LIMIT ?2"
        ),
        (after, limit as i64),
        |row| Ok((read(row)?, row.get(10)?, row.get(11)?)),
    )
}

/// The largest key with a vector.
pub(crate) fn last(connection: &Connection) -> sql::Result<Key> {
    connection.query_row("SELECT coalesce(max(turn), 0) FROM turn_vectors", (), |row| row.get(0))
}

fn read(row: &Row<'_>) -> sql::Result<Entry> {
    let status: String = row.get(2)?;
    let (user, intent): (Option<Key>, Option<String>) = (row.get(3)?, row.get(4)?);
    let tier = match VerdictStatus::from_word(&status) {
        Some(VerdictStatus::Accepted) => Tier::Accepted,
        Some(VerdictStatus::Rejected) => Tier::Rejected,
        Some(VerdictStatus::Neutral) | None => Tier::Neutral,
    };
    let labels = Labels {
        tier,
        user: user.map_or(0, short),
        intent: intent.as_deref().map_or(0, intent_hash),
        quality: Quality::new(row.get(6)?),
        has_strategy: row.get(7)?,
        silent: row.get(8)?,
        ts: row.get(9)?,
    };
    Ok(Entry { turn: row.get(0)?, project: row.get(1)?, labels, corrects: row.get(5)? })
}

pub(crate) fn read_vector(connection: &Connection, turn: Key) -> sql::Result<Option<StoredVector>> {
    connection.find_row("SELECT model, vector FROM turn_vectors WHERE turn = ?1", [turn])
}

/// Combines a correction's question with the one it corrects, which may be a correction too.
pub(crate) fn together(
    connection: &Connection,
    entry: &Entry,
    model: &str,
    own: &[u8],
) -> sql::Result<Option<Vec<f32>>> {
    let Some(mut sum) = unpack(own) else { return Ok(None) };
    let mut next = entry.corrects;
    for _ in 1..MAX_BATCH_TURNS {
        let Some(turn) = next else { break };
        let other = read_vector(connection, turn)?.filter(|(other, _)| other == model);
        if let Some(values) = other.and_then(|(_, bytes)| unpack(&bytes))
            && values.len() == sum.len()
        {
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        next = connection
            .find_row("SELECT corrects FROM turn_index WHERE turn = ?1", [turn])?
            .flatten();
    }
    Ok(Some(sum))
}

/// The low 32 bits of a key.
pub(crate) fn short(key: Key) -> u32 {
    key as u32
}

/// FNV-1a in four bytes, never 0.
pub(crate) fn intent_hash(intent: &str) -> u32 {
    Fnv32::default().add_bytes(intent.as_bytes()).0.max(1)
}
